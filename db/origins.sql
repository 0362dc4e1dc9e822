-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which database this is, and which sessions were taken over from another one: there is no second
-- time for these.

CREATE TABLE state (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	name TEXT NOT NULL
) STRICT;
INSERT INTO state (id, name) VALUES (1, lower(hex(randomblob(16))));

CREATE TABLE origins (
	session INTEGER PRIMARY KEY REFERENCES sessions (id),
	state TEXT NOT NULL,
	number INTEGER NOT NULL,
	UNIQUE (state, number)
) STRICT;

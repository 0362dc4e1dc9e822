-- SPDX-License-Identifier: GPL-2.0-or-later
-- Mails about what was found, and what a revert took back.

ALTER TABLE bisections ADD COLUMN regained_pct REAL;

-- A mail for each step: culprit, metric and machine are its key. The Message-ID is there before
-- anything is sent; handed-over: all of it was written to a server whose answer nobody saw.
CREATE TABLE mails (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id),
	key TEXT NOT NULL UNIQUE,
	culprit TEXT NOT NULL,
	message_id TEXT NOT NULL UNIQUE,
	in_reply_to TEXT,
	state TEXT NOT NULL CHECK (state IN ('draft', 'queued', 'handed-over', 'sent')),
	recipients TEXT NOT NULL,
	message TEXT NOT NULL,
	created_s INTEGER NOT NULL,
	sent_s INTEGER
) STRICT;
CREATE INDEX mails_by_culprit ON mails (culprit);

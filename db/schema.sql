-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 1 of the database. Rows are added and completed, never deleted; a missing number is NULL,
-- never 0; times are seconds since 1970. Later versions are scripts of their own (see schema.c).

-- One run, compare, bisect or test: the N of the command line.
CREATE TABLE sessions (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	key TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'done', 'failed')),
	job_name TEXT NOT NULL,
	job_hash TEXT NOT NULL,
	job_source TEXT NOT NULL,
	repo TEXT NOT NULL,
	machine TEXT NOT NULL,
	argv TEXT NOT NULL,
	cwd TEXT NOT NULL,
	options TEXT NOT NULL,
	pid INTEGER NOT NULL,
	started_s INTEGER NOT NULL,
	ended_s INTEGER,
	message TEXT NOT NULL,
	result TEXT
) STRICT;
CREATE INDEX sessions_by_key ON sessions (key);

CREATE TABLE commits (
	id INTEGER PRIMARY KEY,
	sha TEXT NOT NULL UNIQUE,
	subject TEXT NOT NULL DEFAULT '',
	author TEXT NOT NULL DEFAULT '',
	date_s INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What a session measures, and how its metrics are to be read.
CREATE TABLE session_metrics (
	session INTEGER NOT NULL REFERENCES sessions (id),
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	higher_is_better INTEGER NOT NULL,
	kpi INTEGER NOT NULL,
	centre TEXT NOT NULL,
	PRIMARY KEY (session, name)
) STRICT;

-- The columns of a comparison, in order; the first is the baseline.
CREATE TABLE sides (
	session INTEGER NOT NULL REFERENCES sessions (id),
	name TEXT NOT NULL,
	rev TEXT NOT NULL,
	commit_sha TEXT REFERENCES commits (sha),
	message TEXT NOT NULL,
	PRIMARY KEY (session, name)
) STRICT;

CREATE TABLE bisections (
	session INTEGER PRIMARY KEY REFERENCES sessions (id),
	good TEXT NOT NULL REFERENCES commits (sha),
	bad TEXT NOT NULL REFERENCES commits (sha),
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	cell TEXT NOT NULL,
	better_higher INTEGER NOT NULL,
	seed INTEGER NOT NULL,
	options TEXT NOT NULL,
	outcome TEXT NOT NULL,
	culprit TEXT,
	culprits TEXT,
	probability REAL,
	candidates TEXT,
	effect_pct REAL,
	effect_low REAL,
	effect_high REAL,
	effect_good REAL,
	effect_bad REAL,
	checks TEXT,
	notes TEXT,
	n_candidates INTEGER NOT NULL,
	smallest_effect_pct REAL
) STRICT;

-- Commit, effective config, toolchain and patches; known by the content key of what was built.
CREATE TABLE kernels (
	id INTEGER PRIMARY KEY,
	commit_sha TEXT REFERENCES commits (sha),
	variant TEXT NOT NULL,
	key TEXT NOT NULL UNIQUE,
	identity TEXT NOT NULL,
	code_hash TEXT NOT NULL,
	config_hash TEXT NOT NULL,
	config_diff TEXT NOT NULL,
	toolchain TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('ok', 'untestable', 'infra')),
	message TEXT NOT NULL,
	build_seconds REAL
) STRICT;

-- Effective configurations, by kernels.config_hash.
CREATE TABLE configs (
	hash TEXT PRIMARY KEY,
	content TEXT NOT NULL
) STRICT;

CREATE TABLE machines (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	kind TEXT NOT NULL
) STRICT;

-- The environment of a boot as one flat JSON object; equal text is the same environment.
CREATE TABLE fingerprints (
	id INTEGER PRIMARY KEY,
	environment TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE boots (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id),
	kernel INTEGER REFERENCES kernels (id),
	machine INTEGER REFERENCES machines (id),
	fingerprint INTEGER REFERENCES fingerprints (id),
	commit_sha TEXT REFERENCES commits (sha),
	side TEXT NOT NULL,
	purpose TEXT NOT NULL,
	status TEXT NOT NULL
		CHECK (status IN ('started', 'ok', 'untestable', 'infra', 'failed', 'interrupted')),
	phase TEXT NOT NULL,
	message TEXT NOT NULL,
	void_why TEXT,
	started_s INTEGER NOT NULL,
	seconds REAL,
	boot_seconds REAL,
	seed INTEGER NOT NULL,
	log_path TEXT NOT NULL
) STRICT;
CREATE INDEX boots_by_session ON boots (session);
CREATE INDEX boots_by_kernel ON boots (kernel);

CREATE TABLE runs (
	id INTEGER PRIMARY KEY,
	boot INTEGER NOT NULL REFERENCES boots (id),
	cell TEXT NOT NULL,
	number INTEGER NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
	message TEXT NOT NULL,
	exit_code INTEGER NOT NULL,
	signal INTEGER NOT NULL,
	seconds REAL,
	user_s REAL,
	sys_s REAL,
	voluntary_switches INTEGER NOT NULL,
	involuntary_switches INTEGER NOT NULL,
	max_rss_bytes INTEGER NOT NULL,
	output_total INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_boot ON runs (boot);

-- Apart from runs, so that reading numbers does not read what programs printed.
CREATE TABLE outputs (
	run INTEGER PRIMARY KEY REFERENCES runs (id),
	output BLOB NOT NULL
) STRICT;

CREATE TABLE metrics (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	UNIQUE (name, unit)
) STRICT;

CREATE TABLE samples (
	run INTEGER NOT NULL REFERENCES runs (id),
	metric INTEGER NOT NULL REFERENCES metrics (id),
	value REAL,
	PRIMARY KEY (run, metric)
) STRICT, WITHOUT ROWID;

-- The journal.
CREATE TABLE steps (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id),
	boot INTEGER REFERENCES boots (id),
	when_s INTEGER NOT NULL,
	what TEXT NOT NULL,
	commit_sha TEXT REFERENCES commits (sha),
	detail TEXT NOT NULL,
	data TEXT,
	seconds REAL
) STRICT;
CREATE INDEX steps_by_session ON steps (session);

-- Commits that a person does not want tested in a session.
CREATE TABLE skips (
	session INTEGER NOT NULL REFERENCES sessions (id),
	commit_sha TEXT NOT NULL REFERENCES commits (sha),
	when_s INTEGER NOT NULL,
	PRIMARY KEY (session, commit_sha)
) STRICT;

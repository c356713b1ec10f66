// The tables of metadata.db. A change is a new version and a step from the one before, never an edit.
#pragma once

namespace soci {

inline constexpr int kSchemaVersion = 1;

// AUTOINCREMENT: an id names a directory, which may still be on its way out when the next snapshot comes.
inline constexpr char kSchema[] = R"(
CREATE TABLE snapshots(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  parent INTEGER REFERENCES snapshots(id),
  kind INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  target TEXT NOT NULL,
  layer TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  inodes INTEGER NOT NULL);
CREATE INDEX snapshots_parent ON snapshots(parent);
CREATE INDEX snapshots_layer ON snapshots(layer) WHERE layer <> '';
CREATE INDEX snapshots_target ON snapshots(target) WHERE target <> '';
CREATE TABLE labels(
  snapshot INTEGER NOT NULL REFERENCES snapshots(id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(snapshot, key)) WITHOUT ROWID;
)";

}  // namespace soci

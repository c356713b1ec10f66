// SQLite behind our own words: statements, values, transactions, errors that name the file.
//
// One connection, one user at a time: the owner locks. WAL, every commit synced: containerd syncs its own records of
// the same snapshots, and losing ours alone would leave it with parents that do not exist.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "indexer/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace soci {

class Statement;

class Database {
 public:
  // Makes the file if it is missing. kDataLoss if it is damaged or no database, kUnavailable if another process has it.
  static Result<std::unique_ptr<Database>> Open(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  Result<Statement> Prepare(std::string_view sql);
  // One or more statements without results.
  Status Execute(const char* sql);
  // A statement with one number as its result.
  Result<int64_t> QueryNumber(std::string_view sql);
  int64_t last_row_id() const;
  bool in_transaction() const;

 private:
  friend class Statement;
  explicit Database(std::string path) : path_(std::move(path)) {}
  Status Configure();
  Status Error(int code) const;

  const std::string path_;
  sqlite3* connection_ = nullptr;
};

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Placeholders count from 1.
  Statement& Bind(int place, std::string_view text);
  Statement& Bind(int place, int64_t number);
  Statement& BindNull(int place);

  // True: a row is there. False: the end.
  Result<bool> Step();
  // Runs to the end.
  Status Run();

  // Of the current row; columns count from 0. A null reads as 0 or empty.
  int64_t Number(int column) const;
  std::string Text(int column) const;

 private:
  friend class Database;
  Statement(const Database& database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  void Keep(int code) { bind_code_ = bind_code_ == 0 ? code : bind_code_; }

  const Database& database_;
  sqlite3_stmt* statement_;
  int bind_code_ = 0;  // of the first Bind that failed; Step reports it
};

// Rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace soci

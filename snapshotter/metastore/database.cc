#include "snapshotter/metastore/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace soci {
namespace {

absl::StatusCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

Result<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  std::unique_ptr<Database> database(new Database(path));
  const int code = ::sqlite3_open_v2(path.c_str(), &database->connection_,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return database->Error(code);
  SOCI_RETURN_IF_ERROR(database->Configure());
  return database;
}

Database::~Database() { ::sqlite3_close_v2(connection_); }

Status Database::Configure() {
  ::sqlite3_extended_result_codes(connection_, 1);
  // Exclusive: a second daemon on the same state directory is told so instead of mixing with this one.
  SOCI_RETURN_IF_ERROR(
      Execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
              "PRAGMA foreign_keys=ON; BEGIN EXCLUSIVE; COMMIT;"));
  SOCI_ASSIGN_OR_RETURN(Statement check, Prepare("PRAGMA quick_check(1)"));
  SOCI_ASSIGN_OR_RETURN(bool row, check.Step());
  if (row && check.Text(0) != "ok") return absl::DataLossError(fmt::format("{}: damaged: {}", path_, check.Text(0)));
  return OkStatus();
}

Status Database::Error(int code) const {
  if ((code & 0xff) == SQLITE_BUSY) {
    return absl::UnavailableError(fmt::format("{}: in use by another process", path_));
  }
  const char* text = connection_ != nullptr ? ::sqlite3_errmsg(connection_) : ::sqlite3_errstr(code);
  return Status(CodeOf(code), fmt::format("{}: {}", path_, text));
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = ::sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return Error(code);
  return Statement(*this, statement);
}

Status Database::Execute(const char* sql) {
  const int code = ::sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? OkStatus() : Error(code);
}

Result<int64_t> Database::QueryNumber(std::string_view sql) {
  SOCI_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  SOCI_ASSIGN_OR_RETURN(bool row, statement.Step());
  return row ? statement.Number(0) : 0;
}

int64_t Database::last_row_id() const { return ::sqlite3_last_insert_rowid(connection_); }
bool Database::in_transaction() const { return ::sqlite3_get_autocommit(connection_) == 0; }

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)), bind_code_(other.bind_code_) {}

Statement::~Statement() { ::sqlite3_finalize(statement_); }

Statement& Statement::Bind(int place, std::string_view text) {
  Keep(::sqlite3_bind_text64(statement_, place, text.data() == nullptr ? "" : text.data(), text.size(),
                             SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}
Statement& Statement::Bind(int place, int64_t number) {
  Keep(::sqlite3_bind_int64(statement_, place, number));
  return *this;
}
Statement& Statement::BindNull(int place) {
  Keep(::sqlite3_bind_null(statement_, place));
  return *this;
}

Result<bool> Statement::Step() {
  if (bind_code_ != SQLITE_OK) return database_.Error(bind_code_);
  const int code = ::sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.Error(code);
}

Status Statement::Run() {
  for (;;) {
    SOCI_ASSIGN_OR_RETURN(bool row, Step());
    if (!row) return OkStatus();
  }
}

int64_t Statement::Number(int column) const { return ::sqlite3_column_int64(statement_, column); }
std::string Statement::Text(int column) const {
  const unsigned char* text = ::sqlite3_column_text(statement_, column);
  const int size = ::sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
}

Result<Transaction> Transaction::Begin(Database& database) {
  SOCI_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself.
  if (database_ != nullptr && database_->in_transaction()) (void)database_->Execute("ROLLBACK");
}

Status Transaction::Commit() {
  SOCI_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return OkStatus();
}

}  // namespace soci

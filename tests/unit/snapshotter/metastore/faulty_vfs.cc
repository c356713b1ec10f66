#include "tests/unit/snapshotter/metastore/faulty_vfs.h"

#include <sqlite3.h>

namespace soci::test {
namespace {

struct File {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_vfs* root = nullptr;
sqlite3_vfs shim;
uint64_t count = 0;
uint64_t fail_at = 0;

bool Fails() { return ++count == fail_at; }
sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

int Close(sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); }
int Read(sqlite3_file* f, void* out, int size, sqlite3_int64 at) {
  return Fails() ? SQLITE_IOERR_READ : Real(f)->pMethods->xRead(Real(f), out, size, at);
}
int Write(sqlite3_file* f, const void* bytes, int size, sqlite3_int64 at) {
  return Fails() ? SQLITE_IOERR_WRITE : Real(f)->pMethods->xWrite(Real(f), bytes, size, at);
}
int Truncate(sqlite3_file* f, sqlite3_int64 size) {
  return Fails() ? SQLITE_IOERR_TRUNCATE : Real(f)->pMethods->xTruncate(Real(f), size);
}
int Sync(sqlite3_file* f, int flags) { return Fails() ? SQLITE_IOERR_FSYNC : Real(f)->pMethods->xSync(Real(f), flags); }
int FileSize(sqlite3_file* f, sqlite3_int64* size) { return Real(f)->pMethods->xFileSize(Real(f), size); }
int Lock(sqlite3_file* f, int lock) { return Real(f)->pMethods->xLock(Real(f), lock); }
int Unlock(sqlite3_file* f, int lock) { return Real(f)->pMethods->xUnlock(Real(f), lock); }
int CheckReservedLock(sqlite3_file* f, int* out) { return Real(f)->pMethods->xCheckReservedLock(Real(f), out); }
int FileControl(sqlite3_file* f, int op, void* arg) { return Real(f)->pMethods->xFileControl(Real(f), op, arg); }
int SectorSize(sqlite3_file* f) { return Real(f)->pMethods->xSectorSize(Real(f)); }
int Characteristics(sqlite3_file* f) { return Real(f)->pMethods->xDeviceCharacteristics(Real(f)); }

// Version 1: no shared memory, which an exclusively locked database does not need.
const sqlite3_io_methods kMethods = {1,
                                     Close,
                                     Read,
                                     Write,
                                     Truncate,
                                     Sync,
                                     FileSize,
                                     Lock,
                                     Unlock,
                                     CheckReservedLock,
                                     FileControl,
                                     SectorSize,
                                     Characteristics,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* out, int flags, int* out_flags) {
  File* file = reinterpret_cast<File*>(out);
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  const int code = root->xOpen(root, name, file->real, flags, out_flags);
  file->base.pMethods = code == SQLITE_OK ? &kMethods : nullptr;
  return code;
}

}  // namespace

FaultyVfs::FaultyVfs() {
  root = ::sqlite3_vfs_find(nullptr);
  shim = *root;
  shim.zName = "faulty";
  shim.szOsFile = static_cast<int>(sizeof(File)) + root->szOsFile;
  shim.xOpen = Open;
  ::sqlite3_vfs_register(&shim, 1);
  FailAt(0);
}

FaultyVfs::~FaultyVfs() {
  ::sqlite3_vfs_unregister(&shim);
  ::sqlite3_vfs_register(root, 1);
}

void FaultyVfs::FailAt(uint64_t call) {
  count = 0;
  fail_at = call;
}

uint64_t FaultyVfs::calls() const { return count; }

}  // namespace soci::test

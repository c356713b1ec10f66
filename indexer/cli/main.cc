#include "indexer/cli/app.h"

int main(int argc, char** argv) { return soci::cli::RunApp(argc, argv); }

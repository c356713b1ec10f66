// Certificates made for one test: a private CA and a server certificate for 127.0.0.1 and localhost signed by it.
#pragma once

#include <string>

namespace soci::test {

struct TestCertificates {
  std::string ca;  // PEM files
  std::string certificate;
  std::string key;
};

// Writes the three files into `folder`. Throws std::runtime_error if OpenSSL will not.
TestCertificates MakeCertificates(const std::string& folder);

}  // namespace soci::test

#include "tests/support/certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace soci::test {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;

void Check(bool ok) {
  if (!ok) throw std::runtime_error("OpenSSL makes no certificate");
}

void Extend(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  Check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

Certificate Make(EVP_PKEY* key, const char* name, long serial, X509* issuer, EVP_PKEY* issuer_key) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400 * 30);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509* signer = issuer != nullptr ? issuer : certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer));
  X509_set_pubkey(certificate.get(), key);
  if (issuer == nullptr) {
    Extend(certificate.get(), signer, NID_basic_constraints, "critical,CA:TRUE");
    Extend(certificate.get(), signer, NID_key_usage, "critical,keyCertSign,cRLSign");
  } else {
    Extend(certificate.get(), signer, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  }
  Check(X509_sign(certificate.get(), issuer_key, EVP_sha256()) > 0);
  return certificate;
}

template <typename Write>
std::string WritePem(const std::string& path, Write write) {
  std::unique_ptr<FILE, Freer<std::fclose>> file(std::fopen(path.c_str(), "w"));
  Check(file != nullptr && write(file.get()) == 1);
  return path;
}

}  // namespace

TestCertificates MakeCertificates(const std::string& folder) {
  Key ca_key(EVP_EC_gen("P-256")), key(EVP_EC_gen("P-256"));
  Check(ca_key != nullptr && key != nullptr);
  Certificate ca = Make(ca_key.get(), "a test's CA", 1, nullptr, ca_key.get());
  Certificate certificate = Make(key.get(), "127.0.0.1", 2, ca.get(), ca_key.get());
  TestCertificates files;
  files.ca = WritePem(folder + "/ca.crt", [&](FILE* file) { return PEM_write_X509(file, ca.get()); });
  files.certificate =
      WritePem(folder + "/server.crt", [&](FILE* file) { return PEM_write_X509(file, certificate.get()); });
  files.key = WritePem(folder + "/server.key", [&](FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return files;
}

}  // namespace soci::test

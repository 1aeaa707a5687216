"""The properties of TLS, for the listeners with the protocol SSL or SASL_SSL.

SIGHUP reads the files again, also if no property has changed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from coordinator_server.config.description import FromKafka, Part


class TlsConfig(Part, frozen=True, kw_only=True):
    """A part of ``LiveConfig``."""

    ssl_keystore_type: Annotated[
        str,
        FromKafka(
            "The form of the key store, which is PEM here.", form="PEM", kafka_default="JKS", follows="scram.credentials.max"
        ),
    ] = "PEM"
    ssl_keystore_location: Annotated[
        str,
        FromKafka(
            "The file with the server's private key, and after it its certificate and those that lead to a trusted one.",
            form="the path of a PEM file",
        ),
    ] = ""
    ssl_keystore_key: Annotated[
        str,
        FromKafka("The server's private key itself, instead of a file.", form="a private key in PEM", is_secret=True),
    ] = ""
    ssl_keystore_certificate_chain: Annotated[
        str, FromKafka("The certificates of ssl.keystore.key.", form="certificates in PEM", is_secret=True)
    ] = ""
    ssl_key_password: Annotated[
        str, FromKafka("The password of an encrypted private key.", form="a password", is_secret=True)
    ] = ""
    ssl_truststore_type: Annotated[
        str, FromKafka("The form of the trust store, which is PEM here.", form="PEM", kafka_default="JKS")
    ] = "PEM"
    ssl_truststore_location: Annotated[
        str,
        FromKafka("The file with the certificates of those who vouch for clients.", form="the path of a PEM file"),
    ] = ""
    ssl_truststore_certificates: Annotated[
        str,
        FromKafka(
            "The certificates of those who vouch for clients, instead of a file.",
            form="certificates in PEM",
            is_secret=True,
        ),
    ] = ""
    ssl_client_auth: Annotated[
        Literal["none", "requested", "required"],
        FromKafka("Whether clients show a certificate. The principal of one that shows none is User:ANONYMOUS."),
    ] = "none"
    ssl_enabled_protocols: Annotated[
        str, FromKafka("The versions of TLS.", form="TLSv1.2 and TLSv1.3, one or both, separated by a comma")
    ] = "TLSv1.2,TLSv1.3"
    ssl_cipher_suites: Annotated[
        str,
        FromKafka(
            "The cipher suites of TLS 1.2, if not all that OpenSSL considers safe. Those of TLS 1.3 are always allowed.",
            form="standard names or OpenSSL's, separated by commas, such as TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        ),
    ] = ""
    ssl_principal_mapping_rules: Annotated[
        str,
        FromKafka(
            "The principals of clients with a certificate: the first rule that matches the distinguished name of its subject "
            "counts. Patterns are RE2's.",
            form="DEFAULT or RULE:pattern/replacement/[LU], separated by commas, such as RULE:^CN=([^,]+).*$/$1/L,DEFAULT",
        ),
    ] = "DEFAULT"

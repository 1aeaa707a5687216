#!/bin/sh
# Make an authority that vouches for nodes alone, and for each host a key with a certificate:
#
#   certificates.sh DIRECTORY HOST...
#
# HOST is how other nodes reach a node: a name or an IP address. Nodes get HOST.pem (key and certificate) and authority.pem. Whoever has authority.key can be a node: keep it elsewhere.
# What exists already stays. A certificate that is about to expire: remove HOST.pem, run this again, and send the node SIGHUP.
set -eu
umask 077
mkdir -p "$1"
cd "$1"
shift
new_key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
if [ ! -e authority.pem ]; then
    # shellcheck disable=SC2086 # words
    openssl req -x509 $new_key -days 3650 -subj "/CN=nodes of coordinator-server" -keyout authority.key -out authority.pem
    chmod 644 authority.pem
fi
for host in "$@"; do
    if [ ! -e "$host.pem" ]; then
        case "$host" in
            *:*) kind=IP ;;
            *[!0-9.]*) kind=DNS ;;
            *) kind=IP ;;
        esac
        # shellcheck disable=SC2086
        openssl req $new_key -subj "/CN=$host" -addext "subjectAltName=$kind:$host" -keyout "$host.key" -out "$host.csr"
        openssl x509 -req -in "$host.csr" -CA authority.pem -CAkey authority.key -CAcreateserial -days 825 \
            -copy_extensions copy -out "$host.crt"
        cat "$host.key" "$host.crt" > "$host.pem"
        rm "$host.csr"
    fi
done

#!/bin/sh
# Fails until count.sh counts different words only.
cd "$(dirname "$0")" || exit
got=$(echo 'to be or not to be' | sh count.sh)
[ "$got" -eq 4 ] || { echo "want 4 different words, got $got"; exit 1; }
echo ok

#!/bin/sh
# Put CosyKit on this machine: find Python, choose CPU or CUDA, make the environment.
#
# May be run again at any time. An environment that is whole and current is left alone,
# one that is whole but older is brought up to date, and one that a killed run left half
# done is made anew: its stamp says `state=whole` only after all else is done.
#
# How each step is done stands in tools/setup/.
set -eu
unset CDPATH

root=$(cd -P "$(dirname "$0")" && pwd)
setup=$root/tools/setup
. "$setup/messages.sh"
. "$setup/options.sh"
. "$setup/stamp.sh"

parse_options "$@"
venv=${prefix:+$prefix/lib/cosykit}
venv=${venv:-$(absolute "${COSYKIT_VENV:-$root/.venv}")}
stamp=$venv/cosykit-install
log=$venv/cosykit-install.log
inputs=$(fingerprint)
read_stamp
finish_if_current

. "$setup/machine.sh"
. "$setup/python.sh"
. "$setup/environment.sh"
. "$setup/packages.sh"

# Settings that make Python or pip look or install elsewhere are not for here.
unset PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX PIP_ROOT
export PIP_USER=0 PIP_REQUIRE_HASHES=0

check_platform
choose_tool
find_python
lock
read_stamp # another run may have done it meanwhile
finish_if_current
keep_earlier_choices
choose_runtime
prepare_environment
say "installing for $(describe "$runtime") ($why) with $tool and Python $version"
install_everything
write_stamp whole
link_command
say "installed into $venv ($(du -sm "$venv" | cut -f 1) MB)"

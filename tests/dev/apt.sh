# SPDX-License-Identifier: BSD-3-Clause
# apt with lists and packages of its own, of which this machine's apt and dpkg know nothing.

# The lines of sources.list that Debian's own packages come from, as this machine has them.
apt_sources() {
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg

	apt-get indextargets --format "deb [signed-by=$keys] \$(SITE) \$(RELEASE) \$(COMPONENT)|\$(ORIGIN)" \
		'Created-By: Packages' | sed -n 's/|Debian$//p' | sort -u | grep . ||
		fail "apt knows no source of Debian packages here: see sources.list(5)."
}

# Writes apt.conf and all that it names into a folder. $1: the folder; $2: deb or deb-src; the rest are further lines of
# apt.conf.
apt_write_conf() {
	local folder=$PWD/$1 kind=$2
	shift 2

	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
	: >"$folder/status"
	apt_sources | sed "s/^deb /$kind /" >"$folder/sources.list"
	cat >"$folder/apt.conf" <<-END
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Dir::State "$folder";
		Dir::State::status "$folder/status";
		Dir::Cache "$folder/cache";
		Dir::Etc::sourcelist "$folder/sources.list";
		Dir::Etc::sourceparts "/dev/null";
	END
	[[ $# -eq 0 ]] || printf '%s\n' "$@" >>"$folder/apt.conf"
}

# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by Install and Remove: programs that do without pmcd (pminfo -L), where PCP has a list of the shared objects
# that these load and a name space for them, as PCP has from 7.2 on.

local_conf=$PCP_SYSCONF_DIR/local.conf
local_names=$PCP_VAR_DIR/pmns/local.root

names_local_contexts()
{
	[ -f "$local_names" ] && grep -q "^[[:space:]]*$iam\([[:space:]]\|\$\)" "$local_names"
}

forget_local_contexts()
{
	[ ! -f "$local_conf" ] || sed -i "/^$iam[[:space:]]/d" "$local_conf"
	names_local_contexts && $PCP_BINADM_DIR/pmnsdel -n "$local_names" $iam
}

serve_local_contexts()
{
	[ -f "$local_conf" ] || return
	forget_local_contexts
	printf '%s\t%s\tdso\t%s_init\t%s\n' $iam "$domain" $iam "$PCP_PMDAS_DIR/$iam/pmda_$iam.so" >>"$local_conf"
	[ ! -f "$local_names" ] || $PCP_BINADM_DIR/pmnsadd -n "$local_names" "$PMNSDIR/$iam"
}

# SPDX-License-Identifier: BSD-3-Clause
"""pmcd with the uncore agent on a host of hosts.py, for clients on other hosts."""
import pathlib

from hosts import BUILD, ENVIRONMENT, SOURCE, run, wait_until

PCP = pathlib.Path("/usr/lib/pcp/bin")
STATE = pathlib.Path("/var/lib/pcp")
METRIC = "uncore.dram.read"
ALONE = {**ENVIRONMENT, "PCP_DERIVED_CONFIG": ""}


def is_there():
    return (PCP / "pmcd").exists() and (BUILD / "pmda/pmda_uncore.so").exists()


def start(host):
    names, conf, log = (host.folder / name for name in ("names", "pmcd.conf", "pmcd"))
    log.mkdir()
    run(PCP / "pmnsmerge", "-f", "-a", STATE / "pmns/root_pmcd", "root", names, cwd=SOURCE / "pmda")
    conf.write_text(f"pmcd 2 dso pmcd_init {STATE}/pmdas/pmcd/pmda_pmcd.so\n"
                    f"uncore 470 dso uncore_init {BUILD}/pmda/pmda_uncore.so\n", encoding="ascii")
    host.start(PCP / "pmcd", "-f", "-A", "-c", conf, "-n", names, "-l", log / "log", "-x", log / "fatal",
               "-s", log / "socket", log="pmcd.out",
               env={**ALONE, "PCP_RUN_DIR": log, "PCP_LOG_DIR": log, "PCP_TMP_DIR": log, "PMCD_LOCAL": "0",
                    "PMCD_ROOT_AGENT": "0", "PMNS_DEFAULT": names})
    wait_until(lambda: counted(host), f"pmcd of {host.name}")


def counted(host):
    """Bytes of all sockets so far, as the head sees them over the network; 0 if there are no values at the moment."""
    said = run("pminfo", "-f", "-h", host.name, METRIC, status=None, env=ALONE).stdout
    return sum(int(line.split()[-1]) for line in said.splitlines() if " value " in line)

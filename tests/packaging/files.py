"""The Compose files and the manifests of Kubernetes: what no validator of their form can know."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ["docker-compose.yml", "packaging/compose/docker-compose.yml"]
SETTINGS = set(
    re.findall(r"^#?\s*(WORKING_MEMORY__\w+|DATABASE_URL)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
)
SECRET = re.compile(r"password|secret|api_key|token", re.IGNORECASE)


class Faults(list[str]):
    def unless(self, holds: object, sentence: str) -> None:
        if not holds:
            self.append(sentence)


def settings(names: set[str], where: str, faults: Faults) -> None:
    unknown = {name for name in names if name.startswith("WORKING_MEMORY__")} - SETTINGS
    faults.unless(not unknown, f"{where}: {sorted(unknown)} are no settings")


def compose(path: str, faults: Faults) -> None:
    services: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / path).read_text())["services"]
    own = {name: one for name, one in services.items() if one.get("image") == "working-memory"}
    faults.unless(own, f"{path}: the service is missing")
    for name, service in services.items():
        where, image = f"{path}: {name}", service["image"]
        faults.unless("build" in service or re.search(r":[\w.-]*\d", image), f"{where}: {image} names no version")
        faults.unless(name == "postgres" or service.get("cap_drop") == ["ALL"], f"{where}: it keeps capabilities")
        for port in service.get("ports", []):
            faults.unless(port.startswith("127.0.0.1:"), f"{where}: {port} is published beyond this machine")
    for name, service in own.items():
        where, environment = f"{path}: {name}", service["environment"]
        faults.unless(
            service.get("env_file") == [{"path": ".env", "required": False}],
            f"{where}: .env does not reach it as a whole",
        )
        faults.unless(
            "host.docker.internal:host-gateway" in service["extra_hosts"], f"{where}: it cannot reach this machine"
        )
        faults.unless(
            service["read_only"] and "no-new-privileges:true" in service["security_opt"], f"{where}: it is not confined"
        )
        for key, value in environment.items():
            faults.unless(
                "://" not in str(value) or "${" not in value, f"{where}: a password in {key} would have to be escaped"
            )
        settings(set(environment), where, faults)
    dockerfile = (ROOT / "Dockerfile").read_text()
    faults.unless(
        'CMD ["working-memory", "health", "--settings"]' in dockerfile,
        "Dockerfile: its health check does not follow the settings",
    )


def manifests(text: str, faults: Faults) -> None:
    things = [one for one in yaml.safe_load_all(text) if one]
    kinds = {one["kind"]: one for one in things}
    wanted = {"ServiceAccount", "ConfigMap", "Secret", "Service", "Deployment", "PodDisruptionBudget", "Job"}
    faults.unless(wanted <= set(kinds), f"kubernetes: {wanted - set(kinds)} are missing")
    settings(set(kinds["ConfigMap"]["data"]), "kubernetes: ConfigMap", faults)
    faults.unless(
        not any(SECRET.search(name) for name in kinds["ConfigMap"]["data"]), "kubernetes: a secret is in the ConfigMap"
    )
    for kind in ("Deployment", "Job"):
        template = kinds[kind]["spec"]["template"]
        pod, labels = template["spec"], template["metadata"]["labels"]
        container = pod["containers"][0]
        inner, outer = container["securityContext"], pod["securityContext"]
        faults.unless(
            outer["runAsNonRoot"] and outer["seccompProfile"]["type"] == "RuntimeDefault", f"{kind}: it may be root"
        )
        faults.unless(
            inner["readOnlyRootFilesystem"]
            and not inner["allowPrivilegeEscalation"]
            and inner["capabilities"]["drop"] == ["ALL"],
            f"{kind}: it is not confined",
        )
        faults.unless(pod["automountServiceAccountToken"] is False, f"{kind}: it holds a token of the cluster")
        mounted = {one["name"] for one in container["volumeMounts"]}
        secrets = {
            one["name"]
            for one in pod["volumes"]
            if one.get("secret", {}).get("secretName") == kinds["Secret"]["metadata"]["name"]
        }
        faults.unless(secrets & mounted, f"{kind}: the secret is not mounted as a file")
        faults.unless(not any("valueFrom" in one for one in container["env"]), f"{kind}: a secret is in a variable")
        faults.unless(
            container["resources"]["limits"]["memory"] and container["resources"]["requests"]["cpu"],
            f"{kind}: no bounds",
        )
        selected = kinds["Service"]["spec"]["selector"].items() <= labels.items()
        faults.unless(selected == (kind == "Deployment"), f"{kind}: the Service selects the wrong pods")
    deployment = kinds["Deployment"]["spec"]
    pod = deployment["template"]["spec"]
    container = pod["containers"][0]
    faults.unless(
        deployment["replicas"] >= 2 and deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0,
        "Deployment: nobody answers at times",
    )
    paths = {probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")}
    faults.unless(
        paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}, f"Deployment: it asks {paths}"
    )
    stopping = int(kinds["ConfigMap"]["data"]["WORKING_MEMORY__HTTP__SHUTDOWN_TIMEOUT_SECONDS"])
    grace = pod["terminationGracePeriodSeconds"]
    faults.unless(
        container["lifecycle"]["preStop"]["sleep"]["seconds"] + stopping < grace,
        "Deployment: it is killed while it finishes",
    )
    budget = kinds["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]
    faults.unless(
        budget.items() <= deployment["template"]["metadata"]["labels"].items(),
        "PodDisruptionBudget: it selects nothing",
    )


def main(kubernetes: str | None) -> int:
    faults = Faults()
    for path in COMPOSE:
        compose(path, faults)
    tomllib.loads((ROOT / "packaging/kubernetes/secret/working-memory.toml").read_text())
    if kubernetes:
        manifests(Path(kubernetes).read_text(), faults)
    for fault in faults:
        print(f"FAILED {fault}", file=sys.stderr)
    print(f"Compose files{' and manifests' if kubernetes else ''}: {len(faults)} faults.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [None]))

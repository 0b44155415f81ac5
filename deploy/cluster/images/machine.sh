#!/bin/sh
# Starts the programs of one machine and restarts those that end. ROLE is control or node; NAME,
# ADDRESS and POD_RANGE are this machine's, ROUTES the others' as `range,address`. /etc/bmg holds
# its keys and kubeconfigs.
set -eu

SERVICE_RANGE=10.96.0.0/16
PODS=10.244.0.0/16
LOGS=/var/log/bmg
mkdir -p "$LOGS" /etc/cni/net.d /etc/containerd /etc/kubernetes

# Runs a program under its name, for as long as the machine lives.
keep() {
  name=$1
  shift
  while :; do
    "$@" >>"$LOGS/$name.log" 2>&1 || true
    echo "$(date -u +%FT%TZ) $name ended" >>"$LOGS/restarts.log"
    sleep 1
  done &
}

# Docker mounts these read-only in containers that are not privileged.
for mounted in /sys $(awk '$2 ~ "^/sys/fs/cgroup" { print $2 }' /proc/mounts); do
  mount -o remount,rw,bind "$mounted"
done

for route in $ROUTES; do
  ip route replace "${route%,*}" via "${route#*,}"
done
sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1 2>/dev/null || sysctl -qw net.ipv4.ip_forward=1

proxy() {
  cat >/etc/kubernetes/proxy.yaml <<EOF
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: $NAME
clusterCIDR: $PODS
clientConnection: { kubeconfig: /etc/bmg/proxy.conf }
# The limits of the host's connection table are not ours to set.
conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
EOF
  keep kube-proxy kube-proxy --config /etc/kubernetes/proxy.yaml
}

control() {
  keep etcd etcd --name control --data-dir /var/lib/etcd --unsafe-no-fsync \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379
  keep kube-apiserver kube-apiserver \
    --etcd-servers http://127.0.0.1:2379 --advertise-address "$ADDRESS" --secure-port 6443 \
    --service-cluster-ip-range "$SERVICE_RANGE" --allow-privileged --authorization-mode Node,RBAC \
    --enable-admission-plugins NodeRestriction --enable-aggregator-routing \
    --client-ca-file /etc/bmg/ca.crt --tls-cert-file /etc/bmg/apiserver.crt --tls-private-key-file /etc/bmg/apiserver.key \
    --kubelet-certificate-authority /etc/bmg/ca.crt --kubelet-client-certificate /etc/bmg/admin.crt \
    --kubelet-client-key /etc/bmg/admin.key --kubelet-preferred-address-types InternalIP \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file /etc/bmg/tokens.key \
    --service-account-signing-key-file /etc/bmg/tokens.key \
    --requestheader-client-ca-file /etc/bmg/ca.crt --requestheader-allowed-names front-proxy \
    --requestheader-username-headers X-Remote-User --requestheader-group-headers X-Remote-Group \
    --requestheader-extra-headers-prefix X-Remote-Extra- \
    --proxy-client-cert-file /etc/bmg/front-proxy.crt --proxy-client-key-file /etc/bmg/front-proxy.key
  keep kube-controller-manager kube-controller-manager --kubeconfig /etc/bmg/controllers.conf \
    --use-service-account-credentials --service-account-private-key-file /etc/bmg/tokens.key \
    --root-ca-file /etc/bmg/ca.crt --leader-elect=false \
    --horizontal-pod-autoscaler-sync-period 10s --horizontal-pod-autoscaler-cpu-initialization-period 30s
  keep kube-scheduler kube-scheduler --kubeconfig /etc/bmg/scheduler.conf --leader-elect=false
  proxy
}

node() {
  mount --make-rshared /
  # The group of all pods. Its processors must be named before a process can join it.
  for group in /sys/fs/cgroup/*/; do
    mkdir -p "$group/kubelet" 2>/dev/null || continue
    if [ -f "$group/cpuset.cpus" ]; then
      cat "$group/cpuset.cpus" >"$group/kubelet/cpuset.cpus"
      cat "$group/cpuset.mems" >"$group/kubelet/cpuset.mems"
    fi
  done
  cat >/etc/containerd/config.toml <<'EOF'
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "bmg-cluster/pause:1"
  # A score cannot be lowered without CAP_SYS_RESOURCE.
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "/etc/cni/net.d"
EOF
  cat >/etc/cni/net.d/10-bmg.conflist <<EOF
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "$POD_RANGE" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
EOF
  # Pods keep their addresses among each other; everything else sees the machine's.
  iptables -t nat -C POSTROUTING -s "$PODS" ! -d "$PODS" -j MASQUERADE 2>/dev/null \
    || iptables -t nat -A POSTROUTING -s "$PODS" ! -d "$PODS" -j MASQUERADE
  # Docker's own resolver cannot be reached from pods.
  echo 'options ndots:5' >/etc/kubernetes/resolv.conf
  cat >/etc/kubernetes/kubelet.yaml <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
cgroupRoot: /kubelet
failSwapOn: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: /etc/kubernetes/resolv.conf
authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: /etc/bmg/ca.crt } }
authorization: { mode: Webhook }
tlsCertFile: /etc/bmg/kubelet.crt
tlsPrivateKeyFile: /etc/bmg/kubelet.key
# The disk and its images are the host's.
imageGCHighThresholdPercent: 100
evictionHard: { memory.available: 100Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0% }
# The machine's memory is the host's; the container of this machine has less.
systemReserved: { memory: $RESERVED }
enforceNodeAllocatable: []
EOF
  keep containerd containerd
  keep kubelet kubelet --config /etc/kubernetes/kubelet.yaml --kubeconfig /etc/bmg/kubelet.conf \
    --hostname-override "$NAME" --node-ip "$ADDRESS"
  # Enforces network policies, and does nothing else of what it can.
  NODE_NAME=$NAME keep kube-router kube-router --kubeconfig /etc/bmg/policies.conf \
    --run-firewall=true --run-router=false --run-service-proxy=false --run-loadbalancer=false \
    --service-cluster-ip-range "$SERVICE_RANGE" --hostname-override "$NAME"
  proxy
}

trap 'exit 0' TERM INT
"$ROLE"
while :; do
  sleep 3600 &
  wait $! || true
done

# A machine of the cluster: containerd and Kubernetes in one privileged container.
FROM bmg-cluster/debian:12
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends \
      containerd runc containernetworking-plugins iptables ipset iproute2 conntrack ethtool procps mount \
 && rm -rf /var/lib/apt/lists/*
COPY kube etcd kube-router /usr/local/bin/
RUN cd /usr/local/bin && for part in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do \
      ln -s kube $part; done
COPY machine.sh /usr/local/bin/machine.sh
STOPSIGNAL SIGTERM
ENTRYPOINT ["sh", "/usr/local/bin/machine.sh"]

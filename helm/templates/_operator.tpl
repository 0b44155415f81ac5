{{/* The container with the command line. Takes root; with test it runs `helm test`. */}}
{{- define "bmg.operatorContainer" -}}
{{- $values := .root.Values -}}
{{- $full := include "bmg.fullname" .root -}}
{{- $gateway := printf "http://%s-gateway-http:8080" $full -}}
name: operator
image: {{ include "bmg.image" (dict "root" .root "name" "cli") }}
imagePullPolicy: {{ $values.image.pullPolicy }}
securityContext:
  {{- include "bmg.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml $values.operator.resources | nindent 2 }}
env:
  {{- range $name, $facts := (include "bmg.facts" .root | fromYaml).services }}
  {{- if and $facts.grpc (ne $name "destinations") }}
  - name: {{ include "bmg.addressSetting" $name }}
    value: {{ $full }}-{{ $name }}:{{ $facts.grpc }}
  {{- end }}
  {{- end }}
  # The doctor calls the gateway inside the cluster.
  - name: PUBLIC_URL
    value: {{ $gateway }}
  {{- if $values.mtls.enabled }}
  - name: GRPC_TLS_CERT_FILE
    value: /etc/bmg/tls/tls.crt
  - name: GRPC_TLS_KEY_FILE
    value: /etc/bmg/tls/tls.key
  - name: GRPC_TLS_CA_FILE
    value: /etc/bmg/tls/ca.crt
  {{- end }}
  {{- if .test }}
  - name: BASE_URL
    value: {{ $gateway }}
  {{- if $values.emulator.enabled }}
  - name: EMULATOR_URL
    value: http://{{ $full }}-emulator:8090
  {{- end }}
  {{- end }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- if $values.mtls.enabled }}
  - name: tls-operator
    mountPath: /etc/bmg/tls
    readOnly: true
  {{- end }}
  {{- if .test }}
  - name: test
    mountPath: /etc/bmg/test
    readOnly: true
  {{- end }}
{{- end -}}

{{- define "bmg.operatorVolumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 16Mi
{{- if .root.Values.mtls.enabled }}
- name: tls-operator
  secret:
    secretName: {{ include "bmg.tlsSecretName" (dict "root" .root "name" "operator") }}
    defaultMode: 0440
{{- end }}
{{- if .test }}
- name: test
  configMap:
    name: {{ include "bmg.fullname" .root }}-test
{{- end }}
{{- end -}}

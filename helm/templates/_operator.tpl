{{/* The container with the command line. Takes root; with test it runs `helm test`. */}}
{{- define "bmg.operatorContainer" -}}
{{- $values := .root.Values -}}
{{- $full := include "bmg.fullname" .root -}}
{{- $scope := dict "root" .root "name" "operator" -}}
{{- $gateway := printf "http://%s-gateway-http:8080" $full -}}
name: operator
image: {{ include "bmg.image" (dict "root" .root "name" "cli") }}
imagePullPolicy: {{ $values.image.pullPolicy }}
securityContext:
  {{- include "bmg.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml $values.operator.resources | nindent 2 }}
env:
  {{- include "bmg.env" $scope | nindent 2 }}
  # The doctor calls the gateway inside the cluster.
  - name: PUBLIC_URL
    value: {{ $gateway }}
  {{- if .test }}
  - name: BASE_URL
    value: {{ $gateway }}
  {{- if $values.emulator.enabled }}
  - name: EMULATOR_URL
    value: http://{{ $full }}-emulator:8090
  {{- end }}
  {{- end }}
volumeMounts:
  {{- include "bmg.mounts" $scope | nindent 2 }}
  {{- if .test }}
  - name: test
    mountPath: /etc/bmg/test
    readOnly: true
  {{- end }}
{{- end -}}

{{- define "bmg.operatorVolumes" -}}
{{- $scope := dict "root" .root "name" "operator" "tmp" "16Mi" -}}
{{- include "bmg.sharedVolumes" $scope }}
{{- include "bmg.ownVolumes" $scope }}
{{- if .test }}
- name: test
  configMap:
    name: {{ include "bmg.fullname" .root }}-test
{{- end }}
{{- end -}}

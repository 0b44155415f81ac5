{{/* Container and volumes of one service, for its Deployment and for the prepare job. */}}
{{- define "bmg.container" -}}
name: {{ .name }}
image: {{ include "bmg.image" . }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "bmg.containerSecurity" . | nindent 2 }}
env:
  {{- include "bmg.env" . | nindent 2 }}
volumeMounts:
  {{- include "bmg.mounts" . | nindent 2 }}
{{- end -}}

{{- define "bmg.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if and (eq .name "messaging") (not .prepare) }}
- name: journal
  mountPath: /var/lib/bmg
{{- end }}
{{- if include "bmg.secretNames" . | fromYamlArray }}
- name: secrets-{{ .name }}
  mountPath: /etc/bmg/secrets
  readOnly: true
{{- end }}
{{- if and .root.Values.mtls.enabled (not .prepare) }}
- name: tls-{{ .name }}
  mountPath: /etc/bmg/tls
  readOnly: true
{{- end }}
{{- if .root.Values.caBundle.configMap }}
- name: ca
  mountPath: /etc/bmg/ca
  readOnly: true
{{- end }}
{{- end -}}

{{/* The volumes of one service. It sees only the keys of the Secret that it reads. */}}
{{- define "bmg.ownVolumes" -}}
{{- if and (eq .name "messaging") (not .prepare) }}
# SEND_JOURNAL_DIR. Outlives the container, not the pod. In memory, because the process waits for its writes:
# a file of 256 KiB for each start.
- name: journal
  emptyDir:
    medium: Memory
    sizeLimit: 8Mi
{{- end }}
{{- with include "bmg.secretNames" . | fromYamlArray }}
- name: secrets-{{ $.name }}
  secret:
    secretName: {{ include "bmg.secretName" $ }}
    defaultMode: 0440
    items:
      {{- range . }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
{{- end }}
{{- if and .root.Values.mtls.enabled (not .prepare) }}
# Mounted as a whole (no subPath), so that a renewed certificate appears in the running pod.
- name: tls-{{ .name }}
  secret:
    secretName: {{ include "bmg.tlsSecretName" . }}
    defaultMode: 0440
{{- end }}
{{- end -}}

{{- define "bmg.sharedVolumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: {{ .tmp }}
{{- with .root.Values.caBundle.configMap }}
- name: ca
  configMap:
    name: {{ . }}
{{- end }}
{{- end -}}

{{/* Fields that all pods of the chart share. */}}
{{- define "bmg.podSpec" -}}
serviceAccountName: {{ include "bmg.fullname" .root }}-{{ .name }}
automountServiceAccountToken: false
# Otherwise a Service named gateway would set GATEWAY_PORT in every pod.
enableServiceLinks: false
securityContext:
  {{- include "bmg.podSecurity" 10001 | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

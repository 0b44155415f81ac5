{{/* Names and labels. */}}
{{- define "bmg.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Takes root and name (a component): the labels that select its pods. */}}
{{- define "bmg.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "bmg.labels" -}}
{{ include "bmg.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* The metadata of an object that is named for its component. */}}
{{- define "bmg.metadata" -}}
name: {{ include "bmg.fullname" .root }}-{{ .name }}
labels:
  {{- include "bmg.labels" . | nindent 2 }}
{{- end -}}

{{/* Takes the name of a deployment: the service whose image, certificate and HTTP address it has. */}}
{{- define "bmg.service" -}}
{{ ternary "webhooks" . (eq . "webhooks-ingress") }}
{{- end -}}

{{- define "bmg.image" -}}
{{- $image := .root.Values.image -}}
{{- $name := include "bmg.service" .name -}}
{{- $digest := get $image.digests $name | default "" -}}
{{- if $image.registry }}{{ $image.registry }}/{{ end }}bmg-{{ $name }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- if $digest }}@{{ $digest }}{{ end -}}
{{- end -}}

{{/* The facts about every service: files/services.yaml, with webhooks as two deployments if it is split. */}}
{{- define "bmg.facts" -}}
{{- $page := .Files.Get "files/services.yaml" | fromYaml -}}
{{- if .Values.splitWebhooks -}}
{{- $whole := $page.services.webhooks -}}
{{- $_ := set $page.services "webhooks-ingress" (merge (dict "consumes" list) (omit $whole "grpc" "consumes")) -}}
{{- $_ := set $page.services "webhooks" (omit $whole "http") -}}
{{- end -}}
{{ toYaml $page }}
{{- end -}}

{{/* The setting that holds a service's address for its callers: number-admin → NUMBER_ADMIN_ADDR. */}}
{{- define "bmg.addressSetting" -}}
{{ . | upper | replace "-" "_" }}_ADDR
{{- end -}}

{{/* The restricted profile of the pod security standards. */}}
{{- define "bmg.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "bmg.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Spreads the pods of one component over zones and nodes where possible. */}}
{{- define "bmg.spread" -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "bmg.selector" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "bmg.secretName" -}}
{{- $own := (get .root.Values.services .name | default .root.Values.operator).secret | default "" -}}
{{- $ofRelease := printf "%s-secrets" (include "bmg.fullname" .root) -}}
{{- if and .root.Values.secrets.external.enabled .root.Values.secrets.external.perService -}}
{{- $ofRelease = printf "%s-%s-secrets" (include "bmg.fullname" .root) .name -}}
{{- end -}}
{{- $own | default .root.Values.secrets.existing | default $ofRelease -}}
{{- end -}}

{{- define "bmg.tlsSecretName" -}}
{{ printf "%s-%s-tls" (include "bmg.fullname" .root) (include "bmg.service" .name) }}
{{- end -}}

{{/* The names that have a certificate, as a YAML list: each service, once, and the command line. */}}
{{- define "bmg.certified" -}}
{{- $services := keys (omit (include "bmg.facts" . | fromYaml).services "webhooks-ingress") | sortAlpha -}}
{{ concat $services (ternary (list "operator") (list) .Values.operator.enabled) | toYaml }}
{{- end -}}

{{/* The defaults apply to values of an older chart, too. */}}
{{- define "bmg.validDays" -}}
{{ .Values.mtls.validDays | default 90 | int }}
{{- end -}}

{{/* Not empty where helm makes the certificates, and where a job renews them. */}}
{{- define "bmg.makesCertificates" -}}
{{- $mtls := .Values.mtls -}}
{{- if and $mtls.enabled (not $mtls.given) (not $mtls.certManager.enabled) }}true{{ end -}}
{{- end -}}
{{- define "bmg.renewsCertificates" -}}
{{- if and (include "bmg.makesCertificates" .) (dig "enabled" false (.Values.mtls.renewal | default dict)) }}true{{ end -}}
{{- end -}}

{{/* A Secret whose keys are properties of one entry of a store. */}}
{{- define "bmg.externalSecret" -}}
{{- $external := .root.Values.secrets.external -}}
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: {{ .name }}
  labels:
    {{- include "bmg.labels" (dict "root" .root "name" "secrets") | nindent 4 }}
spec:
  refreshInterval: {{ $external.refreshInterval }}
  secretStoreRef:
    kind: {{ $external.storeKind }}
    name: {{ $external.storeName }}
  target:
    name: {{ .name }}
    creationPolicy: Owner
  data:
    {{- $key := .key }}
    {{- range .properties }}
    - secretKey: {{ . }}
      remoteRef:
        key: {{ $key }}
        property: {{ . }}
    {{- end }}
{{- end -}}

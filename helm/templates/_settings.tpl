{{/* A value as text. Numbers of YAML arrive as floats: without this, 1000000 would become 1e+06. */}}
{{- define "bmg.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* The settings that the chart derives, name → value. `settings` can override each. */}}
{{- define "bmg.computed" -}}
{{- $root := .root -}}
{{- $full := include "bmg.fullname" $root -}}
{{- $services := (include "bmg.facts" $root | fromYaml).services -}}
{{- range $name, $facts := $services }}
{{- with $facts.grpc }}
{{ include "bmg.addressSetting" $name }}: {{ $full }}-{{ $name }}:{{ . }}
{{- end }}
{{- end }}
{{- /* Must outlast the routing of HTTP to a stopping pod, and an answer of DNS (5 s): callers look up a lost pod's successor. */}}
DRAIN_MS: "7000"
KAFKA_REPLICATION: {{ ternary "1" "3" $root.Values.engines.enabled | quote }}
{{- if eq .name "messaging" }}
SEND_JOURNAL_DIR: /var/lib/bmg
{{- end }}
{{- if $root.Values.splitWebhooks }}
WEBHOOKS_ROLE: {{ ternary "ingress" "delivery" (eq .name "webhooks-ingress") }}
{{- end }}
{{- if $root.Values.engines.enabled }}
{{- /* With the namespace: KEDA connects from its own. */}}
KAFKA_BROKERS: {{ $full }}-kafka.{{ $root.Release.Namespace }}.svc:9092
MONGO_URL: mongodb://{{ $full }}-mongo:27017
REDIS_URL: redis://{{ $full }}-redis:6379
{{- end }}
{{- if $root.Values.emulator.enabled }}
UPSTREAM_URL: http://{{ $full }}-emulator:8090
{{- end }}
{{- if $root.Values.ingress.enabled }}
{{- /* Otherwise all clients would share the ingress controller's address, and its limits. */}}
PROXY_HOPS: "1"
{{- end }}
{{- if $root.Values.mtls.enabled }}
GRPC_TLS_CERT_FILE: /etc/bmg/tls/tls.crt
GRPC_TLS_KEY_FILE: /etc/bmg/tls/tls.key
GRPC_TLS_CA_FILE: /etc/bmg/tls/ca.crt
GRPC_IDENTITIES: DNS:{{ $full }}-{caller}.{{ $root.Release.Namespace }}.svc
{{- else }}
GRPC_ALLOW_PLAINTEXT: "true"
{{- end }}
{{- end -}}

{{/* The settings of one service, or of the operator's pod, as YAML, name → text: its own, else the common ones, else the derived ones. */}}
{{- define "bmg.settings" -}}
{{- $page := include "bmg.facts" .root | fromYaml -}}
{{- $facts := get $page.services .name | default $page.operator -}}
{{- $values := get .root.Values.services .name | default .root.Values.operator -}}
{{- $own := $values.settings | default dict -}}
{{- $computed := include "bmg.computed" . | fromYaml -}}
{{- $known := concat $facts.settings $page.everywhere -}}
{{- range $name, $_ := $own }}
{{- if not (has $name $known) }}{{ fail (printf "services.%s.settings: %s does not read %s" $.name $.name $name) }}{{ end }}
{{- end }}
{{- if .root.Values.engines.enabled }}{{ $known = concat $known (list "MONGO_URL" "REDIS_URL") }}{{ end -}}
{{- $found := dict -}}
{{- range $known -}}
{{- if hasKey $own . }}{{ $_ := set $found . (include "bmg.text" (get $own .)) }}
{{- else if hasKey $.root.Values.settings . }}{{ $_ := set $found . (include "bmg.text" (get $.root.Values.settings .)) }}
{{- else if hasKey $computed . }}{{ $_ := set $found . (get $computed .) }}
{{- end -}}
{{- end -}}
{{- if .root.Values.engines.enabled }}
{{- range list "MONGO_URL" "REDIS_URL" }}
{{- if not (has . $facts.secrets) }}{{ $_ := unset $found . }}{{ end }}
{{- end }}
{{- end -}}
{{- /* Not with the user of a service. */}}
{{- if and (eq .name "operator") (not (has (get $found "KAFKA_SASL_MECHANISM") (list "" "none"))) (not (hasKey $own "KAFKA_SASL_USERNAME")) }}
{{- range keys $found }}
{{- if hasPrefix "KAFKA_" . }}{{ $_ := unset $found . }}{{ end -}}
{{- end }}
{{- end -}}
{{- range list "PUBLIC_URL" "KAFKA_BROKERS" -}}
{{- if and (has . $facts.settings) (not (hasKey $found .)) (ne $.name "operator") }}{{ fail (printf "settings.%s is required" .) }}{{ end -}}
{{- end -}}
{{ toYaml $found }}
{{- end -}}

{{/* The secrets that one service reads in this release, as a YAML list. */}}
{{- define "bmg.secretNames" -}}
{{- $page := include "bmg.facts" .root | fromYaml -}}
{{- $facts := get $page.services .name | default $page.operator -}}
{{- $settings := include "bmg.settings" . | fromYaml -}}
{{- $names := list -}}
{{- range $facts.secrets -}}
{{- if not (hasKey $settings .) }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- $stripe := eq (get $settings "PAYMENT_PROCESSOR") "stripe" -}}
{{- $canary := hasKey $settings "CANARY_URL" -}}
{{- $wanted := dict "CANARY_PARTNER_KEY" $canary "CANARY_WEBHOOK_SECRET" $canary "KAFKA_SASL_PASSWORD" (not (has (get $settings "KAFKA_SASL_MECHANISM") (list "" "none"))) "EVENT_LOG_KEYRING" (eq (get $settings "EVENT_LOG_SEALED") "true") "AUDIT_EXPORT_TOKEN" (hasKey $settings "AUDIT_EXPORT_URL") "OIDC_CLIENT_SECRET" (hasKey $settings "OIDC_ISSUER") "STRIPE_API_KEY" $stripe "STRIPE_WEBHOOK_SECRET" $stripe -}}
{{- range $facts.optional_secrets -}}
{{- if not (hasKey $wanted .) }}{{ fail (printf "the chart has no rule for the optional secret %s: add one in _settings.tpl" .) }}{{ end -}}
{{- if get $wanted . }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{ toYaml $names }}
{{- end -}}

{{/* The secrets that any service reads in this release, as a YAML list. */}}
{{- define "bmg.allSecretNames" -}}
{{- $names := list -}}
{{- range $name, $_ := (include "bmg.facts" . | fromYaml).services -}}
{{- $names = concat $names (include "bmg.secretNames" (dict "root" $ "name" $name) | fromYamlArray) -}}
{{- end -}}
{{ $names | uniq | sortAlpha | toYaml }}
{{- end -}}

{{/* With prepare, for the job: it calls no service, and runs before the certificates of a first upgrade exist. */}}
{{- define "bmg.env" -}}
{{- $settings := include "bmg.settings" . | fromYaml -}}
{{- if .prepare }}{{ $settings = omit $settings "SEND_JOURNAL_DIR" "GRPC_TLS_CERT_FILE" "GRPC_TLS_KEY_FILE" "GRPC_TLS_CA_FILE" "GRPC_IDENTITIES" }}{{ end -}}
{{- range $name, $value := $settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range include "bmg.secretNames" . | fromYamlArray }}
- name: {{ . }}_FILE
  value: /etc/bmg/secrets/{{ . }}
{{- end }}
{{- if .root.Values.caBundle.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/bmg/ca/{{ .root.Values.caBundle.key }}
{{- end }}
{{- end -}}

{{/* Name of an object: (list $ "payout") */}}
{{- define "gateway.fullname" -}}
{{- $release := (index . 0).Release.Name -}}
{{- /* From 42 on, callback-dispatcher and callback-dispatcher-replicas are the same 63 characters. */}}
{{- if gt (len $release) 41 }}
{{- fail (printf "The release %s has a name of %d characters. Give it one of at most 41: with a longer one, names of its objects collide." $release (len $release)) }}
{{- end }}
{{- printf "%s-%s" (index . 0).Release.Name (index . 1) | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* Services that are installed, with their declarations: a JSON object */}}
{{- define "gateway.services" -}}
{{- $services := (.Files.Get "files/services.json" | fromJson).services -}}
{{- if not .Values.services.simulator.enabled }}{{ $services = omit $services "simulator" }}{{ end -}}
{{- toJson $services -}}
{{- end }}

{{/* Labels by which selectors find pods, which never change: (list $ "payout") */}}
{{- define "gateway.selectorLabels" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end }}

{{- define "gateway.labels" -}}
{{- $root := index . 0 -}}
{{ include "gateway.selectorLabels" . }}
app.kubernetes.io/part-of: payment-gateway
app.kubernetes.io/version: {{ include "gateway.version" $root | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | quote }}
{{- end }}

{{- define "gateway.version" -}}
{{- .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimAll "-_." -}}
{{- end }}

{{/* Reference of an image: (list $ "payout") */}}
{{- define "gateway.image" -}}
{{- $root := index . 0 -}}
{{- $image := $root.Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end -}}
{{ $image.repository }}/{{ index . 1 -}}
{{- with index $image.digests (index . 1) }}@{{ . }}{{ else }}:{{ $image.tag | default $root.Chart.AppVersion }}{{ end -}}
{{- end }}

{{- define "gateway.simulatorUrl" -}}
{{- $ports := .services.simulator.ports -}}
{{- $isClosed := eq .Values.profile "production" -}}
{{ ternary "https" "http" $isClosed }}://{{ include "gateway.fullname" (list $ "simulator") }}:{{ ternary $ports.internal $ports.http $isClosed }}
{{- end }}

{{/* By which internal ports are called */}}
{{- define "gateway.internalScheme" -}}{{ ternary "https" "http" (and .Values.internalTls.enabled (ne .Values.internalTls.plain "used")) }}{{- end }}

{{/* Where the doctor asks the replicas of each service: name=address,… */}}
{{- define "gateway.opsUrls" -}}
{{- $urls := list -}}
{{- range $name, $service := .Values.services.simulator.enabled | ternary .services (omit .services "simulator") -}}
{{- $urls = append $urls (printf "%s=%s://%s:%d" $name (include "gateway.internalScheme" $) (include "gateway.fullname" (list $ (print $name "-replicas"))) (int $service.ports.ops)) -}}
{{- end -}}
{{- join "," $urls -}}
{{- end }}

{{/* Settings that are no secrets, as YAML: (list $ "payout" declaration values) */}}
{{- define "gateway.settings" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $service := index . 2 -}}
{{- $values := index . 3 -}}
{{- $all := ($root.Files.Get "files/services.json" | fromJson).services -}}
{{- $context := merge (dict "name" $name "service" $service "services" $all "values" $values) $root -}}
{{- $settings := tpl ($root.Files.Get "files/settings.yaml") $context | fromYaml -}}
{{- range list $root.Values.settings $values.settings -}}
{{- range $setting, $value := . -}}
{{- /* Helm's numbers are floats, and a large one would be written as 2.592e+06. */ -}}
{{- $isWhole := and (kindIs "float64" $value) (eq (toString (float64 $value)) (toString (floor (float64 $value)))) -}}
{{- $_ := set $settings $setting (ternary (int64 $value) $value $isWhole) -}}
{{- end -}}
{{- end -}}
{{- range $setting, $value := $settings }}
{{- if and (has $setting $service.settings) (ne (toString $value) "") }}
{{ $setting }}: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Names of the secrets that the Secret of a service, or of provisioning, has, as JSON: (list $ declaration values) */}}
{{- define "gateway.secrets" -}}
{{- $root := index . 0 -}}
{{- $names := (index . 2).secrets | default list -}}
{{- if eq ((index . 2).settings.DEMO_ACCOUNTS | default "no") "yes" }}{{ $names = list "ACCOUNT_KEYS" "SIGNING_PUBLIC_KEY" "IDENTITY_TOKEN" }}{{ end }}
{{- range (index . 1).secrets }}
{{- if or .required (eq .name "IDENTITY_TOKEN") (has .name $root.Values.optionalSecrets) (and (eq .name "KAFKA_PASSWORD") (eq $root.Values.kafka.authentication "scram")) }}
{{- $names = append $names .name }}
{{- end }}
{{- end }}
{{- toJson $names -}}
{{- end }}

{{/* Files that a service reads, as JSON: each with its path, and the source of its volume. (list $ "payout" declaration values) */}}
{{- define "gateway.files" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $service := index . 2 -}}
{{- $values := index . 3 -}}
{{- $onKafka := has "KAFKA_BROKERS" $service.settings -}}
{{- $files := list -}}

{{- $items := list -}}
{{- range include "gateway.secrets" (list $root $service $values) | fromJsonArray }}
{{- $items = append $items (dict "key" . "path" .) }}
{{- end }}
{{- if and $root.Values.mongodb.clientCertificates (has "DATABASE_PREFIX" $service.settings) }}
{{- $items = append $items (dict "key" "mongodb.pem" "path" "mongodb.pem") }}
{{- end }}
{{- $files = append $files (dict "name" "secrets" "path" "/run/secrets/gateway" "source" (dict "secret" (dict "secretName" (include "gateway.secretName" (list $root $values.secretName $name)) "items" $items "defaultMode" 288))) }}
{{- $files = append $files (dict "name" "callers" "path" "/etc/gateway/callers" "source" (dict "configMap" (dict "name" (include "gateway.fullname" (list $root (ternary "provisioning" "callers" (eq $name "provisioning"))))))) }}

{{- range $server, $secret := dict "kafka" $values.kafkaPasswordsSecretName "mongodb" $values.mongodbPasswordsSecretName }}
{{- with $secret }}
{{- $files = append $files (dict "name" (printf "%s-passwords" $server) "path" (printf "/run/secrets/%s-passwords" $server) "source" (dict "secret" (dict "secretName" . "defaultMode" 288))) }}
{{- end }}
{{- end }}
{{- with $values.tlsSecretName }}
{{- $files = append $files (dict "name" "tls" "path" "/etc/gateway/tls" "source" (dict "secret" (dict "secretName" . "defaultMode" 288))) }}
{{- end }}
{{- if and $root.Values.internalTls.enabled (has "INTERNAL_TLS_CERT_FILE" $service.settings) }}
{{- $files = append $files (dict "name" "internal-tls" "path" "/etc/gateway/internal-tls" "source" (dict "secret" (dict "secretName" (include "gateway.secretName" (list $root "" (printf "%s-internal-tls" $name))) "defaultMode" 288))) }}
{{- end }}
{{- if and $root.Values.internalTls.ca.secretName (has "INTERNAL_TLS_CA_FILE" $service.settings) }}
{{- $files = append $files (include "gateway.authority" (list "internal-ca" $root.Values.internalTls.ca) | fromJson) }}
{{- end }}
{{- if and $onKafka (eq $root.Values.kafka.authentication "certificate") }}
{{- $files = append $files (dict "name" "kafka-certificate" "path" "/etc/gateway/kafka-certificate" "source" (dict "secret" (dict "secretName" (include "gateway.secretName" (list $root $values.kafkaCertificateSecretName (printf "%s-kafka" $name))) "defaultMode" 288))) }}
{{- end }}
{{- if and $onKafka $root.Values.kafka.ca.secretName }}
{{- $files = append $files (include "gateway.authority" (list "kafka-ca" $root.Values.kafka.ca) | fromJson) }}
{{- end }}
{{- if and $root.Values.mongodb.ca.secretName (has "DATABASE_PREFIX" $service.settings) }}
{{- $files = append $files (include "gateway.authority" (list "mongodb-ca" $root.Values.mongodb.ca) | fromJson) }}
{{- end }}
{{- if $root.Values.extraCa.secretName }}
{{- $files = append $files (include "gateway.authority" (list "extra-ca" $root.Values.extraCa) | fromJson) }}
{{- end }}
{{- with $root.Values.authorities.secretName }}
{{- $files = append $files (dict "name" "authorities" "path" "/etc/gateway/authorities" "source" (dict "secret" (dict "secretName" .))) }}
{{- end }}
{{- if and (eq $name "payout") $root.Values.iso20022.enabled }}
{{- $debtors := $root.Values.iso20022.debtors }}
{{- $files = append $files (dict "name" "debtors" "path" "/etc/gateway/debtors" "source" (dict "secret" (dict "secretName" $debtors.secretName "items" (list (dict "key" $debtors.key "path" $debtors.key)) "defaultMode" 288))) }}
{{- end }}
{{- toJson $files -}}
{{- end }}

{{/* The file of an authority: (list "kafka-ca" reference) */}}
{{- define "gateway.authority" -}}
{{- $name := index . 0 -}}
{{- $reference := index . 1 -}}
{{- $items := list (dict "key" $reference.key "path" $reference.key) -}}
{{- toJson (dict "name" $name "path" (printf "/etc/gateway/%s" $name) "source" (dict "secret" (dict "secretName" $reference.secretName "items" $items))) -}}
{{- end }}

{{- define "gateway.podSecurity" -}}
runAsNonRoot: true
{{- if .Values.pod.setIds }}
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "gateway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Where pods run, and what they carry */}}
{{- define "gateway.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.pod.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.pod.dnsConfig }}
dnsConfig: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pod.hostAliases }}
hostAliases: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Families of a Service's addresses */}}
{{- define "gateway.ipFamilies" -}}
{{- with .Values.network.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.network.ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end }}

{{/* Name of a Secret: (list $ given default) */}}
{{- define "gateway.secretName" -}}
{{- index . 1 | default (print (index . 0).Values.secretPrefix (index . 2)) -}}
{{- end }}

{{/* Replicas are left to an autoscaler: (list $ "payout"). Empty if not */}}
{{- define "gateway.scaled" -}}
{{- $root := index . 0 -}}
{{- if and (eq $root.Values.scaling.provider "keda") (index $root.Values.services (index . 1)).scaling }}yes{{ end -}}
{{- end }}

{{/* The replicas that Helm sets: (list $ "payout"). Empty: it never has, the autoscaler alone does.
   What Helm has set once and then leaves out, Kubernetes sets to 1. From then on Helm sets what there is. */}}
{{- define "gateway.replicas" -}}
{{- $root := index . 0 -}}
{{- if not (include "gateway.scaled" .) }}{{ (index $root.Values.services (index . 1)).replicas }}
{{- else }}
{{- with lookup "apps/v1" "Deployment" $root.Release.Namespace (include "gateway.fullname" .) }}
{{- if dig "metadata" "annotations" "gateway/replicas" "" . }}{{ .spec.replicas }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The most replicas of a service: (list $ "payout") */}}
{{- define "gateway.maxReplicas" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $scaling := (index $root.Values.services $name).scaling -}}
{{- $partitions := int $root.Values.kafka.partitions -}}
{{- $max := $scaling.maxReplicas | default $partitions | int -}}
{{- if gt $max $partitions }}
{{- fail (printf "services.%s.scaling.maxReplicas is %d, and there are %d partitions: a replica without a partition has no work. Grow the topics first (docs/runbook.md), then set kafka.partitions." $name $max $partitions) }}
{{- end }}
{{- if lt $max (int $scaling.minReplicas) }}
{{- fail (printf "services.%s.scaling: minReplicas is %d, and the most is %d." $name (int $scaling.minReplicas) $max) }}
{{- end }}
{{- $max -}}
{{- end }}

{{/* An edge that this installation has, for one of its ends: (list $ edge "payout"). Empty if not */}}
{{- define "gateway.applies" -}}
{{- $root := index . 0 -}}
{{- $only := (index . 1).only -}}
{{- $simulated := $root.Values.services.simulator.enabled -}}
{{- if not $only }}yes
{{- else if eq $only "sandbox" }}{{ ternary "yes" "" $simulated }}
{{- else if and $simulated (eq $only (ternary "closed-sandbox" "development" (eq $root.Values.profile "production"))) }}
{{- /* The other port of development, the API reference, is not in the chart. */}}
{{- if eq (index . 1).to "simulator" }}yes{{ end }}
{{- end -}}
{{- /* Counterparts and the key service are where `egress` of a service says, and nowhere else. */ -}}
{{- end }}

{{/* Ports of one end of an edge, as JSON; none: any. (list $ edge) */}}
{{- define "gateway.edgePorts" -}}
{{- $root := index . 0 -}}
{{- $edge := index . 1 -}}
{{- $numbers := list -}}
{{- if eq $edge.to "kafka" }}
{{- range $root.Values.kafka.brokers }}{{ $numbers = append $numbers (splitList ":" . | last | int) }}{{ end }}
{{- else if eq $edge.to "mongodb" }}
{{- range $root.Values.mongodb.ports }}{{ $numbers = append $numbers (int .) }}{{ end }}
{{- else if eq $edge.to "otel-collector" }}
{{- $url := urlParse $root.Values.settings.OTLP_URL }}
{{- $numbers = list (ternary (splitList ":" $url.host | last | int) (ternary 443 80 (eq $url.scheme "https")) (regexMatch ":[0-9]+$" $url.host)) }}
{{- else if $edge.port }}
{{- $numbers = list (int $edge.port) }}
{{- end }}
{{- $ports := list -}}
{{- range uniq $numbers }}{{ $ports = append $ports (dict "port" . "protocol" "TCP") }}{{ end }}
{{- toJson $ports -}}
{{- end }}

{{/* NetworkPolicyPeers of a party, as JSON; none: anyone. (list $ "payout" edge) */}}
{{- define "gateway.peers" -}}
{{- $root := index . 0 -}}
{{- $party := index . 1 -}}
{{- $edge := index . 2 -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- if eq $party "outside" }}{{ toJson (ternary $policy.outside $policy.ingressController (eq $edge.to "outside")) }}
{{- else if eq $party "kafka" }}{{ toJson $policy.kafka }}
{{- else if eq $party "mongodb" }}{{ toJson $policy.mongodb }}
{{- else if eq $party "prometheus" }}{{ toJson $policy.prometheus }}
{{- else if eq $party "otel-collector" }}{{ toJson $policy.otelCollector }}
{{- else }}{{ toJson (list (dict "podSelector" (dict "matchLabels" (include "gateway.selectorLabels" (list $root $party) | fromYaml)))) }}
{{- end -}}
{{- end }}

{{/* The egress rule to the forward proxy, as JSON, of a service that calls through it: (list $ "payout"). Empty for others */}}
{{- define "gateway.proxyRule" -}}
{{- $root := index . 0 -}}
{{- $proxy := $root.Values.outboundProxy -}}
{{- $service := dig (index . 1) (dict "settings" list) ($root.Files.Get "files/services.json" | fromJson).services -}}
{{- if and $proxy.url (has "OUTBOUND_PROXY_URL" $service.settings) -}}
{{- $url := urlParse $proxy.url -}}
{{- $port := regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host) | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- $rule := dict "ports" (list (dict "port" (int $port) "protocol" "TCP")) -}}
{{- with $proxy.peers }}{{ $_ := set $rule "to" . }}{{ end -}}
{{- toJson $rule -}}
{{- end -}}
{{- end }}

{{/* The spec of a party's NetworkPolicy: what its edges allow, and DNS. (list $ "payout" egress-of-values) */}}
{{- define "gateway.networkPolicy" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $ours := append (include "gateway.services" $root | fromJson | keys) "operations" -}}
{{- $ingress := list -}}
{{- $dnsPorts := list -}}
{{- range $root.Values.networkPolicy.dnsPorts }}
{{- $dnsPorts = concat $dnsPorts (list (dict "port" (int .) "protocol" "UDP") (dict "port" (int .) "protocol" "TCP")) -}}
{{- end }}
{{- $egress := list (dict "to" $root.Values.networkPolicy.dns "ports" $dnsPorts) -}}
{{- $proxyRule := include "gateway.proxyRule" (list $root $name) -}}
{{- if $proxyRule }}{{ $egress = append $egress ($proxyRule | fromJson) }}{{ end -}}
{{- range $edge := ($root.Files.Get "files/services.json" | fromJson).edges }}
{{- if include "gateway.applies" (list $root $edge $name) | trim }}
{{- if eq $edge.to $name }}
{{- $from := list }}
{{- $anyone := false }}
{{- range $edge.from }}
{{- if or (has . $ours) (has . (list "outside" "prometheus")) }}
{{- $peers := include "gateway.peers" (list $root . $edge) | trim | fromJsonArray }}
{{- $from = concat $from $peers }}
{{- if not $peers }}{{ $anyone = true }}{{ end }}
{{- end }}
{{- end }}
{{- $rule := dict "ports" (include "gateway.edgePorts" (list $root $edge) | fromJsonArray) }}
{{- if not $anyone }}{{ $_ := set $rule "from" $from }}{{ end }}
{{- $ingress = append $ingress $rule }}
{{- end }}
{{- $known := or (has $edge.to $ours) (has $edge.to (list "outside" "kafka" "mongodb")) (and (eq $edge.to "otel-collector") $root.Values.settings.OTLP_URL) }}
{{- /* Through a proxy, callbacks reach nobody directly. */ -}}
{{- if and $known (has $name $edge.from) (not (and $proxyRule (eq $edge.to "outside"))) }}
{{- $rule := dict }}
{{- with include "gateway.peers" (list $root $edge.to $edge) | trim | fromJsonArray }}{{ $_ := set $rule "to" . }}{{ end }}
{{- with include "gateway.edgePorts" (list $root $edge) | fromJsonArray }}{{ $_ := set $rule "ports" . }}{{ end }}
{{- $egress = append $egress $rule }}
{{- end }}
{{- end }}
{{- end }}
{{- range concat $root.Values.networkPolicy.egress (index . 2) }}
{{- $ports := list }}
{{- range .ports }}{{ $ports = append $ports (dict "port" (int .) "protocol" "TCP") }}{{ end }}
{{- $egress = append $egress (dict "to" .to "ports" $ports) }}
{{- end }}
podSelector:
  matchLabels: {{ include "gateway.selectorLabels" (list $root $name) | nindent 4 }}
policyTypes: [Ingress, Egress]
ingress: {{ toYaml $ingress | nindent 2 }}
egress: {{ toYaml $egress | nindent 2 }}
{{- end }}

{{/* Each change of a group's members makes all of them stop and share out the partitions again. */}}
{{- define "gateway.scalingBehavior" -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies:
    - { type: Percent, value: 100, periodSeconds: 60 }
scaleDown:
  stabilizationWindowSeconds: 300
  policies:
    - { type: Pods, value: 1, periodSeconds: 120 }
{{- end }}

{{/* Labels that select the series of a group: (list $ "payout") */}}
{{- define "gateway.seriesSelector" -}}
{{- $selector := printf "group=%q" (index . 1) -}}
{{- range $label, $value := (index . 0).Values.scaling.prometheus.selector -}}
{{- $selector = printf "%s,%s=%q" $selector $label $value -}}
{{- end -}}
{{- $selector -}}
{{- end }}

{{/* The template of a pod that runs one command line to its end: (list $ "provisioning" declaration values command). Without command: provisioning */}}
{{- define "gateway.commandPod" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $declaration := index . 2 -}}
{{- $values := index . 3 -}}
{{- $command := index . 4 -}}
{{- $files := include "gateway.files" (list $root $name $declaration $values) | fromJsonArray -}}
metadata:
  labels:
    {{- with (kindIs "invalid" $root.Values.jobPod.labels | ternary $root.Values.pod $root.Values.jobPod).labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "gateway.labels" (list $root "operations") | nindent 4 }}
  {{- with (kindIs "invalid" $root.Values.jobPod.annotations | ternary $root.Values.pod $root.Values.jobPod).annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext: {{ include "gateway.podSecurity" $root | nindent 4 }}
  {{- include "gateway.placement" $root | trim | nindent 2 }}
  containers:
    - name: {{ $name }}
      image: {{ include "gateway.image" (list $root "operations") | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- with $command }}
      args: {{ toJson . }}
      {{- end }}
      env:
        {{- range $setting, $value := include "gateway.settings" (list $root $name $declaration $values) | fromYaml }}
        - { name: {{ $setting }}, value: {{ $value | quote }} }
        {{- end }}
        {{- range include "gateway.secrets" (list $root $declaration $values) | fromJsonArray }}
        - { name: {{ . }}_FILE, value: /run/secrets/gateway/{{ . }} }
        {{- end }}
        {{- if eq $name "provisioning" }}
        - { name: CALLERS_FILE, value: /etc/gateway/callers/callers.json }
        {{- end }}
      resources: {{ toYaml $values.resources | nindent 8 }}
      securityContext: {{ include "gateway.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- range $files }}
        - { name: {{ .name }}, mountPath: {{ .path }}, readOnly: true }
        {{- end }}
        {{- with $root.Values.pod.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- range $files }}
    - name: {{ .name }}
      {{- toYaml .source | nindent 6 }}
    {{- end }}
    {{- with $root.Values.pod.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Public pages, as JSON: each with its service, host and path. Of the simulator, the issuer's page alone: its other routes
   check no credentials. `list $ "ingress.enabled"`: the value that makes the objects. */}}
{{- define "gateway.pages" -}}
{{- $root := index . 0 -}}
{{- $services := include "gateway.services" $root | fromJson }}
{{- if eq (urlParse $root.Values.publicUrls.apiEdge).hostname (urlParse $root.Values.publicUrls.threeds).hostname }}
{{- fail (printf "publicUrls: apiEdge and threeds have the same host, %s, and would share every path. Give each its own name, or set %s to false." (urlParse $root.Values.publicUrls.threeds).hostname (index . 1)) }}
{{- end }}
{{- $pages := list -}}
{{- range list
  (dict "name" "api-edge" "url" $root.Values.publicUrls.apiEdge "secret" $root.Values.ingress.tlsSecretNames.apiEdge "path" "/")
  (dict "name" "threeds" "url" $root.Values.publicUrls.threeds "secret" $root.Values.ingress.tlsSecretNames.threeds "path" "/")
  (dict "name" "simulator" "url" $root.Values.publicUrls.simulator "secret" $root.Values.ingress.tlsSecretNames.simulator "path" "/acs/v2/challenge") }}
{{- if and .url (hasKey $services .name) }}
{{- $host := (urlParse .url).hostname }}
{{- /* Kubernetes would refuse it only when other objects of the release exist. */}}
{{- if or (regexMatch "^[0-9.]+$" $host) (not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" $host)) }}
{{- fail (printf "publicUrls: %s is no host that an Ingress can have. Take a name in lower case, or set %s to false." $host (index $ 1)) }}
{{- end }}
{{- $pages = append $pages (set . "host" $host) }}
{{- end }}
{{- end }}
{{- toJson $pages -}}
{{- end }}

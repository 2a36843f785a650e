/** Reads workloads, ReplicaSets and pods from the API server of a cluster: always anew, never from a watch cache of an older state. */
import {
  bearer,
  type CheckContext,
  DestinationError,
  readJson,
  type Static,
  statusError,
  type TSchema,
  Type,
  Value,
} from '@claimcheck/core/plugin'

const Labels = Type.Optional(Type.Record(Type.String(), Type.String()))
const Time = Type.String({ format: 'date-time' })
const Meta = Type.Object({
  name: Type.String(),
  uid: Type.String(),
  generation: Type.Optional(Type.Integer()),
  creationTimestamp: Time,
  deletionTimestamp: Type.Optional(Time),
  labels: Labels,
  annotations: Labels,
  ownerReferences: Type.Optional(
    Type.Array(Type.Object({ uid: Type.String(), controller: Type.Optional(Type.Boolean()) })),
  ),
})
const Containers = Type.Array(Type.Object({ name: Type.String(), image: Type.Optional(Type.String()) }))
const Template = Type.Object({ spec: Type.Object({ containers: Containers }) })
const Count = Type.Optional(Type.Integer())
const Condition = Type.Object({
  type: Type.String(),
  status: Type.String(),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  lastUpdateTime: Type.Optional(Time),
  lastTransitionTime: Type.Optional(Type.Union([Time, Type.Null()])),
})
const Conditions = Type.Optional(Type.Array(Condition))
const Selector = Type.Object({
  matchLabels: Labels,
  matchExpressions: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String(),
        operator: Type.String(),
        values: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  ),
})

const Workload = Type.Object({
  metadata: Meta,
  spec: Type.Object({
    replicas: Count,
    revisionHistoryLimit: Count,
    minReadySeconds: Count,
    selector: Selector,
    template: Template,
  }),
  status: Type.Object({
    observedGeneration: Count,
    replicas: Count,
    updatedReplicas: Count,
    readyReplicas: Count,
    availableReplicas: Count,
    updateRevision: Type.Optional(Type.String()),
    desiredNumberScheduled: Count,
    updatedNumberScheduled: Count,
    numberReady: Count,
    numberAvailable: Count,
    numberMisscheduled: Count,
    conditions: Conditions,
  }),
})
export type Workload = Static<typeof Workload>

const ReplicaSet = Type.Object({ metadata: Meta, spec: Type.Object({ template: Template }) })
export type ReplicaSet = Static<typeof ReplicaSet>

const ContainerStatus = Type.Object({
  name: Type.String(),
  ready: Type.Optional(Type.Boolean()),
  imageID: Type.Optional(Type.String()),
  state: Type.Optional(
    Type.Object({ running: Type.Optional(Type.Object({ startedAt: Type.Optional(Type.Union([Time, Type.Null()])) })) }),
  ),
})
const Pod = Type.Object({
  metadata: Meta,
  spec: Type.Object({ containers: Containers }),
  status: Type.Object({
    phase: Type.Optional(Type.String()),
    conditions: Conditions,
    containerStatuses: Type.Optional(Type.Array(ContainerStatus)),
  }),
})
export type Pod = Static<typeof Pod>

/** The answer to a read of an object that is not there. One of a group that is not served names no object. */
const Missing = Type.Object({
  kind: Type.Literal('Status'),
  reason: Type.Literal('NotFound'),
  details: Type.Object({ name: Type.String(), kind: Type.String() }),
})

const PLURALS: Readonly<Record<string, string>> = {
  deployment: 'deployments',
  statefulset: 'statefulsets',
  daemonset: 'daemonsets',
}

/** Objects of one page. A page of pods stays below the largest answer that is read. */
const PAGE = '100'
const MOST_PAGES = 12

export interface Access {
  readonly base_url: string
  readonly token?: string | undefined
}

export function openCluster(
  { base_url, token }: Access,
  { fetch, http, now }: Pick<CheckContext, 'fetch' | 'http' | 'now'>,
) {
  const base = base_url.replace(/\/+$/, '')
  const auth = bearer(token)

  async function list<T extends TSchema>(path: string, item: T, selector: string): Promise<readonly Static<T>[]> {
    const url = (more: string) =>
      `${base}${path}?${new URLSearchParams({ labelSelector: selector, limit: PAGE, ...(more !== '' && { continue: more }) })}`
    const schema = Type.Object({
      metadata: Type.Object({ continue: Type.Optional(Type.String()) }),
      items: Type.Array(item, { maxItems: Number(PAGE) }),
    })
    const items: Static<T>[] = []
    const next = ({ value }: { readonly value: { readonly metadata: { readonly continue?: string } } }) =>
      value.metadata.continue ? url(value.metadata.continue) : undefined
    for await (const { value } of http.paginate(url(''), { schema, auth, most: MOST_PAGES, next: next as never }))
      items.push(...(value as { readonly items: readonly Static<T>[] }).items)
    return items
  }

  return {
    /**
     * Reads a workload; undefined where the API server says that there is none. It refuses what the credentials may not read before it looks
     * whether it exists.
     * @throws DestinationError `forbidden` for a 404 that is of something before the API server
     */
    async workload(namespace: string, kind: string, name: string): Promise<Workload | undefined> {
      const plural = PLURALS[kind]
      if (plural === undefined) throw new DestinationError('unsupported_target')
      const response = await fetch(`${base}/apis/apps/v1/namespaces/${namespace}/${plural}/${name}`, {
        auth,
        headers: { accept: 'application/json' },
      })
      const { status } = response
      if (status === 404) {
        const missing = await readJson(response)
        const isOwn = Value.Check(Missing, missing) && missing.details.name === name && missing.details.kind === plural
        if (isOwn) return undefined
        throw new DestinationError('forbidden', { status })
      }
      if (status !== 200) {
        await response.body?.cancel()
        throw statusError(response, now())
      }
      const value = await readJson(response)
      if (!Value.Check(Workload, value) || value.metadata.name !== name)
        throw new DestinationError('unexpected_response', { status })
      return value
    },
    replicaSets: (namespace: string, { spec }: Workload) =>
      list(`/apis/apps/v1/namespaces/${namespace}/replicasets`, ReplicaSet, selectorOf(spec.selector)),
    pods: (namespace: string, { spec }: Workload) =>
      list(`/api/v1/namespaces/${namespace}/pods`, Pod, selectorOf(spec.selector)),
    /** Reads a list that the credentials have to be allowed to read. @throws DestinationError `forbidden` */
    async requireNamespace(namespace: string) {
      const schema = Type.Object({ kind: Type.Literal('PodList') })
      await http.json(`${base}/api/v1/namespaces/${namespace}/pods?limit=1`, { schema, auth })
    },
    /** Reads what any accepted credentials may read. */
    async requireAccepted() {
      await http.json(`${base}/api`, { schema: Type.Object({ kind: Type.String() }), auth })
    },
  }
}

/** Writes a label selector as a query has it. @throws DestinationError `unexpected_response` for an operator that it does not know */
function selectorOf({ matchLabels = {}, matchExpressions = [] }: Static<typeof Selector>): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'In') return `${key} in (${values.join(',')})`
    if (operator === 'NotIn') return `${key} notin (${values.join(',')})`
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    throw new DestinationError('unexpected_response')
  })
  return [...labels, ...expressions].join(',')
}

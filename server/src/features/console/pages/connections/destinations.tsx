/** The destinations that can be connected, by kind and found by words, with those that the operator could add. */
import type { Registry } from '../../../../plugins/registry.ts'
import { notLoaded } from '../../../../plugins/shelf.ts'
import { Empty } from '../../../../web/parts/table.tsx'
import { ActionNames } from '../../../../web/parts/values.tsx'
import { publicPaths } from '../../../../web/paths.ts'
import { useWorkspace } from '../../page.tsx'
import { SearchLine } from '../../parts/search-form.tsx'
import { actionTitle } from '../../words.ts'

/** The kinds of destinations in the order of the page, by the first word of their actions. */
const KINDS: Readonly<Record<string, string>> = {
  codehost: 'Code',
  registry: 'Packages',
  container: 'Container images',
  http: 'Web',
  chat: 'Messages',
  mail: 'Mail',
  payment: 'Payments',
  database: 'Databases',
  storage: 'Object storage',
  chain: 'Blockchains',
}
const OTHERS = 'Others'

interface Destination {
  readonly id: string
  readonly title: string
  readonly actions: readonly { readonly action: string; readonly title: string | undefined }[]
  /** The connection type to connect; undefined for a destination that the service does not load. */
  readonly provider: string | undefined
  /** The package that the operator adds; undefined for a destination that is loaded. */
  readonly package: string | undefined
}

interface DestinationsProps {
  readonly registry: Pick<Registry, 'connectionTypes' | 'actionsFor' | 'verifierFor'>
  /** The words that a person looks for; empty for all destinations. */
  readonly search: string
}

export function Destinations({ registry, search }: DestinationsProps) {
  const { at } = useWorkspace()
  const all = destinationsOf(registry)
  const found = all.filter((one) => isFound(one, search))
  const kinds = [...Object.values(KINDS), OTHERS]
  return (
    <>
      <h2 id="connect">Connect</h2>
      <search>
        <form method="get" action={`${at.connections}#connect`} class="filters">
          <SearchLine label="Search destinations" placeholder="github, refund, database" value={search} />
          {search !== '' && <a href={`${at.connections}#connect`}>Show all destinations</a>}
        </form>
      </search>
      {found.length === 0 && (
        <Empty heading="No destination fits">
          <p>
            Search for another word, or <a href={`${publicPaths.docs}/verifiers`}>read what verifiers there are</a>. For
            any other destination, somebody can write a verifier in half an hour.
          </p>
        </Empty>
      )}
      {kinds.map((kind) => (
        <Kind kind={kind} destinations={found.filter((one) => kindOf(one) === kind)} />
      ))}
    </>
  )
}

function Kind({ kind, destinations }: { readonly kind: string; readonly destinations: readonly Destination[] }) {
  if (destinations.length === 0) return null
  return (
    <>
      <h3>{kind}</h3>
      <div class="cards">
        {destinations.map((destination) => (
          <DestinationCard {...destination} />
        ))}
      </div>
    </>
  )
}

function DestinationCard({ id, title, actions, provider, package: name }: Destination) {
  const { at } = useWorkspace()
  return (
    <article class="card" aria-labelledby={id}>
      <h4 id={id}>{title}</h4>
      <p>Verifies: {actions.length > 0 ? <ActionNames actions={actions} /> : <span class="none">nothing yet</span>}</p>
      {provider !== undefined && (
        <a class="button quiet" href={at.newConnection(provider)} aria-label={`Connect ${title}`}>
          Connect
        </a>
      )}
      {name !== undefined && (
        <p class="help">
          Not loaded on this service. Its operator adds this line under <code>plugins</code> in the configuration:{' '}
          <code>{JSON.stringify({ use: name })}</code>
        </p>
      )}
    </article>
  )
}

function destinationsOf(registry: DestinationsProps['registry']): readonly Destination[] {
  const loaded = registry.connectionTypes().map(({ provider, title }) => ({
    id: `new-${provider}`,
    title,
    actions: registry.actionsFor(provider).map((action) => ({ action, title: actionTitle(registry, action) })),
    provider,
    package: undefined,
  }))
  const others = notLoaded((action) => registry.verifierFor(action) !== undefined).map(
    ({ package: name, connections, actions }) => ({
      id: `shelf-${name}`,
      title: connections.join(', '),
      actions: actions.map(({ action, title }) => ({ action, title })),
      provider: undefined,
      package: name,
    }),
  )
  return [...loaded, ...others]
}

function kindOf({ actions }: Destination): string {
  const [first] = actions.map(({ action }) => action.split('.')[0]!).filter((word) => Object.hasOwn(KINDS, word))
  return first === undefined ? OTHERS : KINDS[first]!
}

/** Tells whether each word of a search is in what the page says of a destination. */
function isFound(destination: Destination, search: string): boolean {
  const { title, actions, provider = '', package: name = '' } = destination
  const said = [kindOf(destination), title, provider, name, ...actions.flatMap((one) => [one.action, one.title ?? ''])]
  const text = said.join(' ').toLowerCase()
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every((word) => text.includes(word))
}

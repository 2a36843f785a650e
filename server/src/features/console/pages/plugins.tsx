/** The page of the installation's plugins, for owners. */

import type { App } from '../../../http/instance.ts'
import {
  hostWords,
  ISOLATION_WORDS,
  methodWords,
  overviewOf,
  type PluginOverview,
  socketWords,
  stateWords,
  tokenHostWords,
} from '../../../plugins/overview.ts'
import { Facts, List } from '../../../web/parts/facts.tsx'
import { Empty } from '../../../web/parts/table.tsx'
import { ActionName, Codes, Hash } from '../../../web/parts/values.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'

export function pluginRoutes(app: App, services: ConsoleDependencies): void {
  addPage(app, services, '/plugins', {
    owners: true,
    show: () => (
      <ConsolePage title="Plugins" section="plugins">
        <p>
          Plugins read destinations, and say what they saw; the service decides the verdicts. The operator of this
          service chooses them, and receipts name the one that looked.
        </p>
        {services.registry.plugins.length === 0 ? (
          <Empty heading="No plugin is configured">
            <p>Ask the operator of this service to add one.</p>
          </Empty>
        ) : (
          <div class="cards plugins">
            {services.registry.plugins.map((plugin) => (
              <PluginCard plugin={overviewOf(plugin)} />
            ))}
          </div>
        )}
      </ConsolePage>
    ),
  })
}

function PluginCard({ plugin }: { plugin: PluginOverview }) {
  const { name, version, codeHash, isolation, state, manifest, actions, connections, chain } = plugin
  return (
    <article class="card" aria-labelledby={`plugin-${name}`}>
      <h2 id={`plugin-${name}`}>{name}</h2>
      <p class={isolation === 'open' ? 'notice warning' : undefined}>{ISOLATION_WORDS[isolation]}</p>
      <Facts
        rows={[
          ['Package', version === undefined ? plugin.package : `${plugin.package} ${version}`],
          ['Digest', codeHash && <Hash value={codeHash} label={`the digest of ${name}`} ends={12} />],
          ['Isolation', isolation],
          ['State on this host', stateWords(state)],
          ['May ask', <Lines texts={hostWords(manifest)} none="no host" />],
          ['Gets tokens at', <Lines texts={tokenHostWords(manifest)} none="no host" />],
          ['May also send', <Lines texts={methodWords(manifest)} />],
          ['Sockets', <Lines texts={socketWords(manifest)} />],
          ['Programs', manifest.programs?.length ? <Codes values={manifest.programs} /> : 'none'],
          ['Verifies', <Actions actions={actions} />],
          ['Connects', <Lines texts={connections.map(({ title }) => title)} none="nothing" />],
          ['Anchors on', chain],
        ]}
      />
    </article>
  )
}

function Lines({ texts, none = 'nothing' }: { texts: readonly string[]; none?: string }) {
  if (texts.length === 0) return <span class="none">{none}</span>
  return texts.length === 1 ? texts[0] : <List items={texts} />
}

/** The actions, each with its versions, which exist side by side. */
function Actions({ actions }: Pick<PluginOverview, 'actions'>) {
  if (actions.length === 0) return <span class="none">nothing</span>
  const rows = [...new Set(actions.map(({ action }) => action))].map((name) => {
    const versions = actions.filter(({ action }) => action === name)
    return (
      <>
        <ActionName action={name} title={versions[0]!.title} />, {versions.length > 1 ? 'versions' : 'version'}{' '}
        {versions.map(({ version }) => version).join(', ')}
      </>
    )
  })
  return <List items={rows} />
}

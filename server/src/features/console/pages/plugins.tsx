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
import { Facts } from '../../../web/parts/facts.tsx'
import { Empty } from '../../../web/parts/table.tsx'
import { ActionName, Codes, Hash } from '../../../web/parts/values.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'

export function pluginRoutes(app: App, services: ConsoleDependencies): void {
  addPage(app, services, '/plugins', {
    owners: true,
    show: () => <Plugins plugins={services.registry.plugins.map(overviewOf)} />,
  })
}

function Plugins({ plugins }: { readonly plugins: readonly PluginOverview[] }) {
  return (
    <ConsolePage title="Plugins" section="plugins">
      <p>
        Plugins read destinations, and say what they saw; the service decides the verdicts. The operator of this service
        chooses them, and receipts name the one that looked.
      </p>
      {plugins.length === 0 ? (
        <Empty heading="No plugin is configured">
          <p>Ask the operator of this service to add one.</p>
        </Empty>
      ) : (
        <div class="cards plugins">
          {plugins.map((plugin) => (
            <PluginCard plugin={plugin} />
          ))}
        </div>
      )}
    </ConsolePage>
  )
}

function PluginCard({ plugin }: { readonly plugin: PluginOverview }) {
  const { name, version, codeHash, isolation, state, manifest, actions, connections, chain } = plugin
  const isAtRisk = isolation === 'open'
  return (
    <article class="card" aria-labelledby={`plugin-${name}`}>
      <h2 id={`plugin-${name}`}>{name}</h2>
      {isAtRisk ? <p class="notice warning">{ISOLATION_WORDS[isolation]}</p> : <p>{ISOLATION_WORDS[isolation]}</p>}
      <Facts
        rows={[
          ['Package', version === undefined ? plugin.package : `${plugin.package} ${version}`],
          [
            'Digest',
            codeHash === undefined ? null : <Hash value={codeHash} label={`the digest of ${name}`} ends={12} />,
          ],
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

function Lines({ texts, none = 'nothing' }: { readonly texts: readonly string[]; readonly none?: string }) {
  const [only, ...more] = texts
  if (only === undefined) return <span class="none">{none}</span>
  if (more.length === 0) return <>{only}</>
  return (
    <ul>
      {texts.map((text) => (
        <li>{text}</li>
      ))}
    </ul>
  )
}

/** Joins the versions of each action, which exist side by side, in one line. */
function byAction(actions: PluginOverview['actions']) {
  const names = [...new Set(actions.map(({ action }) => action))]
  return names.map((name) => {
    const all = actions.filter(({ action }) => action === name)
    return { action: name, title: all[0]!.title, versions: all.map(({ version }) => version) }
  })
}

function versionWords([first, ...more]: readonly string[]): string {
  return more.length === 0 ? `version ${first}` : `versions ${[first, ...more].join(', ')}`
}

function Actions({ actions }: Pick<PluginOverview, 'actions'>) {
  if (actions.length === 0) return <span class="none">nothing</span>
  return (
    <ul>
      {byAction(actions).map(({ action, versions, title }) => (
        <li>
          <ActionName action={action} title={title} />, {versionWords(versions)}
        </li>
      ))}
    </ul>
  )
}

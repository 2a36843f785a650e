/** The agents that are bound to keys, and the page that asks before one is released. */
import { visible, visibleName } from '@claimcheck/core/words/plain-text'
import { type Column, ROW_HEAD, Table } from '../../../../web/parts/table.tsx'
import { Hash, Name, Time } from '../../../../web/parts/values.tsx'
import type { BoundAgent } from '../../../workspaces/keys.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { AskForm } from '../../parts/form.tsx'

interface NamedAgent extends BoundAgent {
  readonly pseudonym: string | undefined
}

export function BoundAgents({ agents }: { agents: readonly NamedAgent[] }) {
  const { at, isOwner } = useWorkspace()
  if (agents.length === 0) return null
  const columns: readonly Column<NamedAgent>[] = [
    ['Agent', ({ agentId }) => <Name of={agentId} />, ROW_HEAD],
    [
      'Claims through',
      ({ keys }) =>
        keys.length === 0 ? <span class="none">no key</span> : visible(keys.map(({ name }) => name).join(', ')),
    ],
    [
      'Pseudonym',
      ({ pseudonym }) => (pseudonym === undefined ? null : <Hash value={pseudonym} label="the pseudonym" ends={10} />),
    ],
    ['Bound', ({ boundAt }) => <Time at={boundAt} />],
  ]
  const release: Column<NamedAgent> = [
    'Release',
    ({ agentId, keys }) =>
      keys.length === 0 ? (
        <a
          href={`${at.releaseAgent}?${new URLSearchParams({ agent: agentId })}`}
          aria-label={`Release ${visibleName(agentId)}`}
        >
          Release
        </a>
      ) : null,
  ]
  return (
    <>
      <h2 id="agents">Bound agents</h2>
      <p>
        Only the keys named here claim for these agents. An agent stays bound when its last key ends. Receipts have its
        pseudonym, which tells it from agents of other workspaces.
      </p>
      <Table stacks label="Bound agents" columns={isOwner ? [...columns, release] : columns} rows={agents} />
    </>
  )
}

export function ReleaseAgent({ agentId, problem }: { agentId: string; problem?: string }) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title="Release this agent?" section="developers" problem={problem}>
      <p>
        <strong>
          <Name of={agentId} />
        </strong>{' '}
        has no key left. Once it is released, every key of the workspace that is not bound to other agents may claim for
        it, and its receipts no longer say that it is bound. To keep it bound, make a new key for it first.
      </p>
      <AskForm
        action={at.releaseAgent}
        submit="Release the agent"
        danger
        cancel="Keep it bound"
        href={at.developers}
        fields={{ agent: agentId }}
      />
    </ConsolePage>
  )
}

/** The list of a workspace's keys: the restrictions of each, its state, and when and from where it was last used. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type Column, ROW_HEAD, Table } from '../../../../web/parts/table.tsx'
import { Codes, Name, Time, useNow } from '../../../../web/parts/values.tsx'
import { hasExpired } from '../../../workspaces/key-settings.ts'
import { type ApiKey, KEY_PREFIX } from '../../../workspaces/keys.ts'
import { useWorkspace } from '../../page.tsx'

/**
 * The table of keys.
 * @param names of the people who made keys, by their ids
 */
export function KeyTable({ keys, names }: { keys: readonly ApiKey[]; names: ReadonlyMap<string, string> }) {
  const { isOwner } = useWorkspace()
  const columns: readonly Column<ApiKey>[] = [
    ['Name', ({ name }) => <Name of={name} />, ROW_HEAD],
    ['Key', (key) => <KeyText apiKey={key} />],
    ['State', (key) => <KeyState apiKey={key} successor={keys.find(({ id }) => id === key.replacedBy)} />],
    ['Held to', (key) => <HeldTo apiKey={key} />],
    ['Last used', (key) => <LastUse apiKey={key} />],
    ['Created', ({ createdAt }) => <Time at={createdAt} />],
    ['Created by', ({ createdBy }) => (createdBy === null ? 'command line' : names.get(createdBy))],
  ]
  const action: Column<ApiKey> = ['Action', (key) => (key.revokedAt === null ? <Actions apiKey={key} /> : null)]
  return <Table stacks label="API keys" columns={isOwner ? [...columns, action] : columns} rows={keys} />
}

export function KeyText({ apiKey }: { apiKey: ApiKey }) {
  return <code>{`${KEY_PREFIX}…${apiKey.lastFour}`}</code>
}

/**
 * The state of a key.
 * @param successor the key that replaced it, if one did
 */
export function KeyState({ apiKey, successor }: { apiKey: ApiKey; successor?: ApiKey }) {
  const now = useNow()
  const { expiresAt, revokedAt } = apiKey
  const replaced = successor && (
    <>
      , replaced by <KeyText apiKey={successor} />
    </>
  )
  if (revokedAt !== null) {
    return (
      <span class="none">
        revoked <Time at={revokedAt} />
      </span>
    )
  }
  if (expiresAt === null) return <>active</>
  if (hasExpired(apiKey, now)) {
    return (
      <span class="none">
        expired <Time at={expiresAt} />
        {replaced}
      </span>
    )
  }
  return (
    <>
      active, expires <Time at={expiresAt} />
      {replaced}
    </>
  )
}

export function HeldTo({ apiKey: { networks, agentIds } }: { apiKey: ApiKey }) {
  if (networks.length === 0 && agentIds === null) return <span class="none">nothing</span>
  return (
    <>
      {agentIds !== null && (
        <>
          agents <Codes values={agentIds} />{' '}
        </>
      )}
      {networks.length > 0 && (
        <>
          networks <Codes values={networks} />
        </>
      )}
    </>
  )
}

export function LastUse({ apiKey }: { apiKey: ApiKey }) {
  return (
    <>
      <Time at={apiKey.lastUsedAt} none="never" />
      {apiKey.lastAddress !== null && <> from {apiKey.lastAddress}</>}
    </>
  )
}

function Actions({ apiKey }: { apiKey: ApiKey }) {
  const { id, replacedBy } = apiKey
  const name = visibleName(apiKey.name)
  const { at } = useWorkspace()
  const isOver = hasExpired(apiKey, useNow())
  return (
    <>
      {replacedBy === null && (
        <a href={at.key(id)} aria-label={`Change ${name}`}>
          Change
        </a>
      )}{' '}
      {replacedBy === null && !isOver && (
        <a href={at.rotateKey(id)} aria-label={`Replace ${name}`}>
          Replace
        </a>
      )}{' '}
      <a href={at.revokeKey(id)} aria-label={`Revoke ${name}`}>
        Revoke
      </a>
    </>
  )
}

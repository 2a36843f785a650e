/** The pages about one key: the new one, and those that ask before a change of it. */
import { Facts } from '../../../../web/parts/facts.tsx'
import { Code, Name, Time } from '../../../../web/parts/values.tsx'
import type { ApiKey } from '../../../workspaces/keys.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { Actions, AskForm, PostForm, Select } from '../../parts/form.tsx'
import type { Fields } from '../../request-fields.ts'
import { KeyFields } from './key-fields.tsx'
import { HeldTo, KeyState, KeyText, LastUse } from './key-table.tsx'

/**
 * The page of a new key.
 * @param replaced the key that it replaces, which still works for some time
 */
export function NewKey({
  secret,
  command,
  replaced,
}: {
  secret: string
  command: string
  replaced: ApiKey | undefined
}) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title="Your new key" section="developers">
      <p class="notice warning">
        <strong>Copy this key now: it is not shown again.</strong> Only its hash is stored.
      </p>
      <Code text={secret} label="the key" />
      {replaced && (
        <p>
          Put it where <KeyText apiKey={replaced} /> is used now. That key expires <Time at={replaced.expiresAt} />.
        </p>
      )}
      <h2>{replaced ? 'Try it' : 'Submit a first claim'}</h2>
      <p>Paste this into a shell. Replace the example with what your agent did, and where.</p>
      <Code text={command} label="the command" />
      <p>
        <a class="button" href={at.developers}>
          I have copied the key
        </a>
      </p>
    </ConsolePage>
  )
}

interface KeyPageProps {
  readonly apiKey: ApiKey
  readonly problem?: string
}

export function ChangeKey({ apiKey, values, problem }: KeyPageProps & { values: Fields }) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title="Change a key" section="developers">
      <KeyFacts apiKey={apiKey} />
      <PostForm action={at.key(apiKey.id)}>
        <KeyFields values={values} problem={problem} />
        <p>
          An agent that you take from the key stays bound, so that no other key claims for it: release it under{' '}
          <a href={`${at.developers}#agents`}>Bound agents</a>.
        </p>
        <Actions submit="Change the key" cancel="Leave it" href={at.developers} />
      </PostForm>
    </ConsolePage>
  )
}

const OVERLAPS = [
  ['1h', '1 hour'],
  ['24h', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['0m', 'no time: it is refused at once'],
] as const

export function RotateKey({ apiKey, problem }: KeyPageProps) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title="Replace this key?" section="developers" problem={problem}>
      <KeyFacts apiKey={apiKey} />
      <p>
        You get a new key that is held to the same. The old one goes on for the time that you choose, so that you can
        put the new one in its place. If the old key has leaked, let it go on for no time, or revoke it.
      </p>
      <PostForm action={at.rotateKey(apiKey.id)}>
        <Select name="overlap" label="The old key goes on for" options={OVERLAPS} value="24h" />
        <Actions submit="Make the new key" cancel="Keep it as it is" href={at.developers} />
      </PostForm>
    </ConsolePage>
  )
}

export function RevokeKey({ apiKey }: KeyPageProps) {
  const { at } = useWorkspace()
  const isRevoked = apiKey.revokedAt !== null
  return (
    <ConsolePage title={isRevoked ? 'This key is revoked' : 'Revoke this key?'} section="developers">
      <KeyFacts apiKey={apiKey} />
      {isRevoked ? (
        <p>
          Requests with it are refused. <a href={at.developers}>Back to the keys</a>
        </p>
      ) : (
        <>
          <p>
            The next request with this key is refused. This cannot be undone. Claims that were submitted with it stay.
            {apiKey.agentIds !== null && ' Its agents stay bound until you release them.'}
          </p>
          <AskForm
            action={at.revokeKey(apiKey.id)}
            submit="Revoke the key"
            danger
            cancel="Keep it"
            href={at.developers}
          />
        </>
      )}
    </ConsolePage>
  )
}

function KeyFacts({ apiKey }: Pick<KeyPageProps, 'apiKey'>) {
  return (
    <Facts
      rows={[
        ['Name', <Name of={apiKey.name} />],
        ['Key', <KeyText apiKey={apiKey} />],
        ['Held to', <HeldTo apiKey={apiKey} />],
        ['Last used', <LastUse apiKey={apiKey} />],
        ['State', <KeyState apiKey={apiKey} />],
      ]}
    />
  )
}

/** The pages about the address at which the destination of a connection gives hints. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { HostedConnectionType } from '../../../../plugins/hosted.ts'
import { Facts } from '../../../../web/parts/facts.tsx'
import { Code, Time } from '../../../../web/parts/values.tsx'
import type { HintAddress, NewHintAddress } from '../../../hints/hint-addresses.ts'
import type { ConnectionSummary } from '../../../workspaces/connections.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { PostForm } from '../../parts/form.tsx'

export interface HintsPageProps {
  readonly connection: ConnectionSummary
  readonly type: HostedConnectionType
  /** The address; undefined while hints are switched off. */
  readonly address: HintAddress | undefined
}

export function HintsPage({ connection, type, address }: HintsPageProps) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title={`Hints for ${visibleName(connection.name)}`} section="connections">
      <p>
        A destination can tell Claimcheck that something changed, by a webhook: claims that wait are then looked at
        within seconds. A hint is no evidence, and takes no look from the claims’ own schedule.
      </p>
      {address ? (
        <>
          <Facts
            rows={[
              ['Address', <code>{address.url}</code>],
              [
                'Secret',
                <>
                  made <Time at={address.secretSince} />, and not shown again
                </>,
              ],
              ['Last hint', <Time at={address.heardAt} none="none with this secret yet" />],
            ]}
          />
          <Senders type={type} />
          <div class="actions">
            <PostForm action={at.hints(connection.id)} class="row">
              <button type="submit" class="quiet">
                Replace the secret
              </button>
            </PostForm>
            <PostForm action={at.endHints(connection.id)} class="row">
              <button type="submit" class="danger quiet">
                Switch hints off
              </button>
            </PostForm>
          </div>
        </>
      ) : (
        <PostForm action={at.hints(connection.id)}>
          <button type="submit">Make an address for hints</button>
        </PostForm>
      )}
      <p>
        <a href={at.connections}>Back to the connections</a>
      </p>
    </ConsolePage>
  )
}

export function NewHintsPage({
  connection,
  type,
  made,
}: Pick<HintsPageProps, 'connection' | 'type'> & { readonly made: NewHintAddress }) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title={`Hints for ${visibleName(connection.name)}`} section="connections">
      <p class="notice warning">
        <strong>Copy this secret now: it is not shown again.</strong> A secret from before proves nothing any more.
      </p>
      <Code text={made.url} label="the address" />
      <Code text={made.secret} label="the secret" />
      <Senders type={type} />
      <p>
        <a class="button" href={at.hints(connection.id)}>
          I have copied the secret
        </a>
      </p>
    </ConsolePage>
  )
}

function Senders({ type }: Pick<HintsPageProps, 'type'>) {
  return (
    <>
      {type.hints?.map(({ title, help }) => (
        <>
          <h2>{title}</h2>
          <p>{help}</p>
        </>
      ))}
    </>
  )
}

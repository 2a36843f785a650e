/** The form that connects a destination, made from what its plugin says of it. */
import type { ConnectionType } from '@claimcheck/core'
import { isSecret } from '@claimcheck/core'
import type { NotConnected } from '../../../services/connections.ts'
import { ConsolePage, type Viewer } from '../../page.tsx'
import { failureInWords } from '../../parts/failures.ts'
import { PostForm } from '../../parts/form.tsx'
import { Prose } from '../../parts/prose.tsx'
import { type FormValues, SchemaFields } from '../../parts/schema-form.tsx'
import { paths } from '../../paths.ts'

/** Before the names of the plugin's own options. */
export const PREFIX = 'option_'
/** The box that connects what could not be reached. */
export const INSIST = 'insist'

/** Why the form is shown again. */
export interface Outcome {
  readonly problems?: Readonly<Record<string, string>>
  readonly failed?: NotConnected
}

interface ConnectFormProps {
  readonly viewer: Viewer
  readonly type: ConnectionType
  readonly values: FormValues
  readonly outcome: Outcome
}

export function ConnectForm({ viewer, type, values, outcome }: ConnectFormProps) {
  const workspaceId = viewer.workspace!.id
  const mayInsist = outcome.failed?.isRefused === false
  return (
    <ConsolePage
      title={`Connect ${type.title}`}
      viewer={viewer}
      section="connections"
      problem={problemOf(type, outcome)}
    >
      <div class="columns">
        <PostForm action={paths.newConnection(workspaceId, type.provider)} csrf={viewer.csrf}>
          <SchemaFields schema={type.options} values={values} problems={outcome.problems ?? {}} prefix={PREFIX} />
          {mayInsist ? <Insist ticked={values[INSIST] !== undefined} /> : null}
          <div class="actions">
            <button type="submit">Connect</button>
            <a class="button quiet" href={paths.connections(workspaceId)}>
              Cancel
            </a>
          </div>
        </PostForm>
        <section>
          <h2>Access that can only read</h2>
          <p>
            <Prose text={type.help} />
          </p>
          <p>
            Write access is never needed: destinations are only read. Secrets are kept encrypted and not shown again.
          </p>
        </section>
      </div>
    </ConsolePage>
  )
}

function Insist({ ticked }: { readonly ticked: boolean }) {
  return (
    <div class="field">
      <div class="choice">
        <input type="checkbox" id={INSIST} name={INSIST} value="yes" checked={ticked} aria-describedby="insist-help" />
        <label for={INSIST}>Connect it all the same</label>
      </div>
      <p class="help" id="insist-help">
        It is saved untested, and claims wait until it can be read or their deadline comes.
      </p>
    </div>
  )
}

function problemOf(type: ConnectionType, { problems, failed }: Outcome): string | undefined {
  const again = Object.values(type.options.properties).some(isSecret) ? ' Type the secrets again.' : ''
  if (failed) return `It is not connected: ${failureInWords(failed.failure)}.${hintOf(failed.failure)}${again}`
  return problems && `It is not connected: ${problems[''] ?? 'see the fields below.'}${again}`
}

function hintOf(failure: string): string {
  return failure === 'unavailable'
    ? ' Addresses in private networks have to be allowed by whoever runs this service.'
    : ''
}

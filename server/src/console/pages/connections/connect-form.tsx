/** The forms that connect a destination, or give a connection other secrets, made from what its plugin says of it. */
import { type ConnectionType, secretNames } from '@claimcheck/core'
import type { ComponentChildren } from 'preact'
import type { TSchema } from 'typebox'
import type { NotConnected } from '../../../workspaces/connection-trial.ts'
import type { ConnectionSummary } from '../../../workspaces/connections.ts'
import { ConsolePage, type Viewer } from '../../page.tsx'
import { failureInWords } from '../../parts/failures.ts'
import { PostForm } from '../../parts/form.tsx'
import { type FormValues, SchemaFields } from '../../parts/schema-form.tsx'
import { propertiesOf, propertyLabel, secretsIn } from '../../parts/schema-properties.ts'
import { paths } from '../../paths.ts'
import { Prose } from '../../words.tsx'
import { Options } from './list.tsx'

/** Before the names of the plugin's own options. */
export const PREFIX = 'option_'
/** The box that keeps what could not be reached. */
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
  return (
    <DestinationForm
      viewer={viewer}
      type={type}
      values={values}
      outcome={outcome}
      title={`Connect ${type.title}`}
      action={paths.newConnection(viewer.workspace!.id, type.provider)}
      schema={type.options}
      words={CONNECT}
    />
  )
}

interface ReplaceFormProps extends ConnectFormProps {
  readonly connection: ConnectionSummary
}

export function ReplaceForm({ viewer, connection, type, values, outcome }: ReplaceFormProps) {
  const schema = secretsIn(type)
  return (
    <DestinationForm
      viewer={viewer}
      type={type}
      values={values}
      outcome={outcome}
      title={`Replace the credentials of ${type.title}`}
      action={paths.credentials(viewer.workspace!.id, connection.id)}
      schema={schema}
      words={REPLACE}
    >
      <dl class="facts">
        <Options connection={connection} type={type} />
      </dl>
      <p>
        The connection stays as it is otherwise, and claims that wait go on being read through it. The new credentials
        are tried first: until they are taken, the ones it has are used.
        {propertiesOf(schema).length > 1 ? ' What is left empty is not replaced.' : null}
      </p>
    </DestinationForm>
  )
}

interface Words {
  readonly submit: string
  readonly refused: string
  readonly insist: string
  readonly insisted: string
}

const CONNECT: Words = {
  submit: 'Connect',
  refused: 'It is not connected',
  insist: 'Connect it all the same',
  insisted: 'It is saved untested, and claims wait until it can be read or their deadline comes.',
}
const REPLACE: Words = {
  submit: 'Replace',
  refused: 'They are not replaced',
  insist: 'Replace them all the same',
  insisted: 'They are saved untested, and those that the connection has now are gone.',
}

interface DestinationFormProps extends ConnectFormProps {
  readonly title: string
  readonly action: string
  /** Of the options that are asked for. */
  readonly schema: TSchema
  readonly words: Words
  readonly children?: ComponentChildren
}

function DestinationForm(props: DestinationFormProps) {
  const { viewer, type, values, outcome, title, action, schema, words, children } = props
  const mayInsist = outcome.failed?.isRefused === false
  return (
    <ConsolePage title={title} viewer={viewer} section="connections" problem={problemOf(type, schema, outcome, words)}>
      {children}
      <div class="columns">
        <PostForm action={action} csrf={viewer.csrf}>
          <SchemaFields schema={schema} values={values} problems={outcome.problems ?? {}} prefix={PREFIX} />
          {mayInsist ? <Insist words={words} ticked={values[INSIST] !== undefined} /> : null}
          <div class="actions">
            <button type="submit">{words.submit}</button>
            <a class="button quiet" href={paths.connections(viewer.workspace!.id)}>
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

function Insist({ words, ticked }: { readonly words: Words; readonly ticked: boolean }) {
  return (
    <div class="field">
      <div class="choice">
        <input type="checkbox" id={INSIST} name={INSIST} value="yes" checked={ticked} aria-describedby="insist-help" />
        <label for={INSIST}>{words.insist}</label>
      </div>
      <p class="help" id="insist-help">
        {words.insisted}
      </p>
    </div>
  )
}

function problemOf(
  type: ConnectionType,
  schema: TSchema,
  { problems, failed }: Outcome,
  { refused }: Words,
): string | undefined {
  const again = secretNames(type).length > 0 ? ' Type the secrets again.' : ''
  if (failed) return `${refused}: ${failureInWords(failed.failure)}.${hintOf(failed.failure)}${again}`
  return problems && `${refused}: ${problems[''] ?? unshown(type, schema, problems) ?? 'see the fields below.'}${again}`
}

/** What is wrong with an option that is not asked for: its plugin may ask more by now than when it was given. */
function unshown(
  type: ConnectionType,
  schema: TSchema,
  problems: Readonly<Record<string, string>>,
): string | undefined {
  const shown = new Set(propertiesOf(schema).map(([key]) => PREFIX + key))
  const [name, problem] = Object.entries(problems).find(([name]) => !shown.has(name)) ?? []
  return name && `${propertyLabel(type.options, name.slice(PREFIX.length))}: ${problem}`
}

function hintOf(failure: string): string {
  return failure === 'unavailable'
    ? ' Addresses in private networks have to be allowed by whoever runs this service.'
    : ''
}

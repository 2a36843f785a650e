/** The forms that connect a destination and replace its credentials, made from the description of the plugin. */

import { secretNames } from '@claimcheck/core/hosting'
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { ComponentChildren } from 'preact'
import type { TSchema } from 'typebox'
import { propertiesOf, propertyLabel } from '../../../../base/schema-properties.ts'
import { MAX_NAME_LENGTH } from '../../../../names/names.ts'
import type { HostedConnectionType } from '../../../../plugins/hosted.ts'
import { failureInWords } from '../../../../web/failures.ts'
import { Facts } from '../../../../web/parts/facts.tsx'
import { Codes } from '../../../../web/parts/values.tsx'
import { Prose, sentence } from '../../../../web/words.tsx'
import type { NotConnected } from '../../../workspaces/connection-trial.ts'
import type { ConnectionSummary } from '../../../workspaces/connections.ts'
import type { Refused } from '../../form-page.tsx'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { Actions, Checkbox, Field, type FieldProps, PostForm } from '../../parts/form.tsx'
import { type Problems, SchemaFields } from '../../parts/schema-form.tsx'
import { secretsIn } from '../../parts/schema-properties.ts'
import type { Fields } from '../../request-fields.ts'
import { optionRows } from './list.tsx'
import { TRY, TrialField } from './trial-field.tsx'

/** The prefix of fields for options of the plugin. */
export const PREFIX = 'option_'
/** The name of the checkbox that keeps a destination that could not be reached. */
export const INSIST = 'insist'

/** The name of the checkbox that lets receipts name the address. */
export const PUBLISH = 'publish_address'

/** The name of the field for the connection's name. */
export const NAME = 'connection_name'

/** The reasons why the form is shown again. */
export interface Outcome {
  readonly problems?: Problems
  readonly failed?: NotConnected
}

interface FormProps {
  readonly type: HostedConnectionType
  readonly values: Fields
  readonly outcome: Outcome
}

/**
 * The form that connects a destination.
 * @param listed the addresses that the operator lists for this provider
 */
export function ConnectForm({ listed, ...form }: FormProps & { listed: readonly string[] }) {
  const { type, values, outcome } = form
  return (
    <DestinationForm
      {...form}
      title={`Connect ${type.title}`}
      action={useWorkspace().at.newConnection(type.provider)}
      schema={type.options}
      words={CONNECT}
      more={
        <>
          <NameField
            value={values[NAME]}
            problem={outcome.problems?.[NAME]}
            help={`What your team calls it. Leave it empty for a name that is made of the kind and the options, such as “${type.title}, acme”.`}
          />
          <AddressChoice type={type} listed={listed} isTicked={values[PUBLISH] !== undefined} />
        </>
      }
    />
  )
}

function NameField(props: Pick<FieldProps, 'value' | 'problem' | 'help'>) {
  return <Field name={NAME} label="Name of the connection" autocomplete="off" maxLength={MAX_NAME_LENGTH} {...props} />
}

export function RenameForm({ connection, refused }: { connection: ConnectionSummary; refused: Refused | undefined }) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title={`Rename ${visibleName(connection.name)}`} section="connections">
      <PostForm action={at.connectionName(connection.id)}>
        <NameField
          value={refused?.values[NAME] ?? connection.name}
          problem={refused && sentence(refused.problem)}
          help={`What your team calls it. Leave it empty for the usual name, “${connection.usualName}”.`}
        />
        <Actions submit="Rename" href={at.connections} />
      </PostForm>
    </ConsolePage>
  )
}

export function ReplaceForm({ connection, ...form }: FormProps & { connection: ConnectionSummary }) {
  const { type } = form
  const schema = secretsIn(type)
  return (
    <DestinationForm
      {...form}
      title={`Replace the credentials of ${visibleName(connection.name)}`}
      action={useWorkspace().at.credentials(connection.id)}
      schema={schema}
      words={REPLACE}
    >
      <Facts rows={optionRows(connection, type)} />
      <p>
        The new credentials are tried first. Until they work, the present ones are used. Everything else of the
        connection stays, and claims that wait go on.
        {propertiesOf(schema).length > 1 && ' Empty fields are not replaced.'}
      </p>
    </DestinationForm>
  )
}

const CONNECT = {
  submit: 'Connect',
  refused: 'Not connected',
  insist: 'Connect anyway',
  insisted: 'The connection is saved untested. Claims wait until it can be read, or until their deadline.',
}
const REPLACE: typeof CONNECT = {
  submit: 'Replace',
  refused: 'Not replaced',
  insist: 'Replace anyway',
  insisted: 'The new credentials are saved untested, and the present ones are deleted.',
}

interface DestinationFormProps extends FormProps {
  readonly title: string
  readonly action: string
  /** The options as a schema, whose properties are the fields. */
  readonly schema: TSchema
  readonly words: typeof CONNECT
  /** Fields that follow the others. */
  readonly more?: ComponentChildren
  readonly children?: ComponentChildren
}

function DestinationForm(props: DestinationFormProps) {
  const { type, values, outcome, title, action, schema, words, more, children } = props
  return (
    <ConsolePage title={title} section="connections" problem={problemOf(props)}>
      {children}
      <div class="columns">
        <PostForm action={action}>
          <SchemaFields schema={schema} values={values} problems={outcome.problems ?? {}} prefix={PREFIX} />
          <TrialField type={type} value={values[TRY]} problem={outcome.problems?.[TRY]} />
          {more}
          {outcome.failed?.isRefused === false && (
            <Checkbox
              name={INSIST}
              label={words.insist}
              value="yes"
              isTicked={values[INSIST] !== undefined}
              help={words.insisted}
            />
          )}
          <Actions submit={words.submit} href={useWorkspace().at.connections} />
        </PostForm>
        <section>
          <h2>Read-only access</h2>
          <p>
            <Prose text={type.help} />
          </p>
          <p>
            Give read access only: destinations are never changed. Secrets are stored encrypted and never shown again.
          </p>
        </section>
      </div>
    </ConsolePage>
  )
}

/** Asks whether receipts may name the address, unless that is always the same and listed. */
function AddressChoice({
  type: { onlyAddress: only },
  listed,
  isTicked,
}: Pick<FormProps, 'type'> & { listed: readonly string[]; isTicked: boolean }) {
  if (only !== undefined && listed.includes(only)) {
    return (
      <p class="help">
        Receipts name the address <code>{only}</code>: the operator lists it as a public destination.
      </p>
    )
  }
  return (
    <Checkbox
      name={PUBLISH}
      label="Receipts may name the address"
      value="yes"
      isTicked={isTicked}
      help={<AddressHelp listed={listed} />}
    />
  )
}

function AddressHelp({ listed }: { listed: readonly string[] }) {
  const isOne = listed.length === 1
  return (
    <>
      Everyone who has a receipt can then read the address of the destination. Without it, receipts say “at a server
      that this workspace chose, address withheld”: their readers cannot tell where a claim was read, and may trust it
      less.
      {listed.length > 0 && (
        <>
          {' '}
          This makes no difference for {isOne ? 'the address' : 'the addresses'} <Codes values={listed} />, which the
          operator lists as public: receipts always name {isOne ? 'it' : 'them'}.
        </>
      )}{' '}
      To change it later, disconnect and connect again.
    </>
  )
}

function problemOf(form: DestinationFormProps): string | undefined {
  const { problems, failed } = form.outcome
  const { refused } = form.words
  const again = secretNames(form.type).length > 0 ? ' Enter the secrets again.' : ''
  if (failed) return `${refused}: ${failureInWords(failed.failure)}.${hintOf(failed)}${again}`
  return problems && `${refused}: ${problems[''] ?? unshown(form, problems) ?? 'correct the fields below.'}${again}`
}

/** Finds the problem of an option that the form does not show: the plugin may require more than when the destination was connected. */
function unshown({ type, schema }: DestinationFormProps, problems: Problems): string | undefined {
  const shown = new Set([NAME, TRY, ...propertiesOf(schema).map(([key]) => PREFIX + key)])
  const [name, problem] = Object.entries(problems).find(([name]) => !shown.has(name)) ?? []
  return name && `${propertyLabel(type.options, name.slice(PREFIX.length))}: ${problem}`
}

function hintOf({ failure }: NotConnected): string {
  if (failure === 'forbidden') return ' Look whether it is there, or give them read access to it.'
  return failure === 'unavailable'
    ? ' The operator of this service has to allow addresses in private networks (ALLOW_PRIVATE).'
    : ''
}

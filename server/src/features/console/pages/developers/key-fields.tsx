/** The fields for the restrictions of a key, and how they are read. */
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../../../base/errors.ts'
import { dayOf } from '../../../../web/parts/values.tsx'
import type { KeySettings } from '../../../workspaces/key-settings.ts'
import type { ApiKey } from '../../../workspaces/keys.ts'
import { isDay, spanOf } from '../../filter-query.ts'
import { Field } from '../../parts/form.tsx'
import { type Fields, linesOf } from '../../request-fields.ts'

interface KeyFieldsProps {
  readonly values: Fields
  readonly problem?: string
}

/** The field for the name of a new key, and the fields for its restrictions, which are folded until one has a value. */
export function NewKeyFields(props: KeyFieldsProps) {
  const { expires = '', networks = '', agents = '' } = props.values
  return (
    <>
      <NameField {...props} />
      <details open={expires + networks + agents !== ''}>
        <summary>Hold it to a time, to networks or to agents</summary>
        <LimitFields {...props} />
      </details>
    </>
  )
}

export function KeyFields(props: KeyFieldsProps) {
  return (
    <>
      <NameField {...props} />
      <LimitFields {...props} />
    </>
  )
}

function NameField({ values, problem }: KeyFieldsProps) {
  return (
    <Field
      name="name"
      label="Name"
      value={values.name}
      problem={problem}
      help="What will use it: a program, a machine, a pipeline."
      autocomplete="off"
      required
    />
  )
}

function LimitFields({ values }: KeyFieldsProps) {
  return (
    <>
      <Field
        name="expires"
        label="Last day"
        type="date"
        value={values.expires}
        help="The key expires at the end of this day, UTC. Leave it empty for a key that does not expire."
      />
      <Field
        name="networks"
        label="Networks"
        value={values.networks}
        help="Where requests may come from, one on each line: 10.0.0.0/8, 2001:db8::/32, or a single address. Leave it empty for anywhere."
        multiline
        spellcheck={false}
      />
      <Field
        name="agents"
        label="Bound to agents"
        value={values.agents}
        help="The ids of the agents for which this key claims, one on each line. From then on no other key of the workspace claims for them unless it is bound to them too. Leave it empty for a key that claims for every agent that is not bound."
        multiline
        spellcheck={false}
      />
    </>
  )
}

/** Writes the settings of a key as the values of its fields. */
export function fieldsOf({ name, expiresAt, networks, agentIds }: ApiKey): Fields {
  return {
    name,
    expires: expiresAt === null ? '' : dayOf(expiresAt - 1),
    networks: networks.join('\n'),
    agents: (agentIds ?? []).join('\n'),
  }
}

/**
 * Reads the fields of a key.
 * @param from the key that the fields showed: an end within a day stays as it is when the day does
 * @throws ServiceError `bad_request`
 */
export function readKeyFields(values: Fields, from?: ApiKey): KeySettings {
  const { expires = '', networks = '', agents = '' } = values
  const isUnchanged = from && expires === fieldsOf(from).expires
  const agentIds = linesOf(agents)
  return {
    expiresAt: isUnchanged ? from.expiresAt : endOf(expires),
    networks: linesOf(networks),
    agentIds: agentIds.length === 0 ? null : agentIds,
  }
}

function endOf(day: string): Instant | null {
  if (day === '') return null
  if (!isDay(day)) throw new ServiceError('bad_request', 'the last day is not a date: write it as 2027-12-31')
  return spanOf({ to: day }).until!
}

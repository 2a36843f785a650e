/** The form of a webhook: its address, and which events are sent there. */
import { VERDICTS } from '@claimcheck/core/rules'
import type { ComponentChildren } from 'preact'
import { EVENT_TYPES } from '../../../../storage/events.ts'
import { WEBHOOK_FORMATS } from '../../../../storage/webhooks.ts'
import { Name } from '../../../../web/parts/values.tsx'
import type { WebhookSettings } from '../../../webhooks/webhooks.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { Actions, Field, PostForm, Select, Tick } from '../../parts/form.tsx'
import { FORMAT_WORDS } from './webhook-list.tsx'

interface WebhookFormProps {
  /** The id of a webhook that is there already. */
  readonly id?: string
  /** The values of the form, as they were typed. */
  readonly values: WebhookSettings
  readonly connections: readonly { readonly id: string; readonly name: string }[]
  readonly problem: string | undefined
}

export function WebhookForm({ id, values: { format, url, filters }, connections, problem }: WebhookFormProps) {
  const { at } = useWorkspace()
  const isNew = id === undefined
  return (
    <ConsolePage title={isNew ? 'New webhook' : 'Change a webhook'} section="developers" problem={problem}>
      <PostForm action={isNew ? at.newWebhook : at.changeWebhook(id)}>
        <Select
          name="format"
          label="For"
          options={WEBHOOK_FORMATS.map((one) => [one, FORMAT_WORDS[one]])}
          value={format}
          help="A program gets every event as JSON, signed. People get words and a link."
        />
        <Field
          name="url"
          label="Address"
          value={url}
          help="Events are sent here by POST. Of a chat service, the address of its incoming webhook. It may hold a secret: owners alone see it."
          autocomplete="off"
          spellcheck={false}
          maxLength={2000}
          required
        />
        <Ticks name="types" legend="Events" help="Without a mark, all of them.">
          {EVENT_TYPES.map((type) => (
            <Tick field="types" value={type} isTicked={filters.types.includes(type)}>
              <code>{type}</code>
            </Tick>
          ))}
        </Ticks>
        <Ticks name="verdicts" legend="Verdicts" help="Of claims. Without a mark, every one.">
          {VERDICTS.map((verdict) => (
            <Tick field="verdicts" value={verdict} isTicked={filters.verdicts.includes(verdict)}>
              {verdict}
            </Tick>
          ))}
        </Ticks>
        <Field
          name="actions"
          label="Actions"
          multiline
          value={filters.actions.join('\n')}
          help="Of claims: one a line, such as codehost.commit.push. Empty, every one."
          spellcheck={false}
        />
        <Field
          name="agents"
          label="Agents"
          multiline
          value={filters.agents.join('\n')}
          help="Of claims: one id a line. Empty, every one."
          spellcheck={false}
        />
        {connections.length > 0 && (
          <Ticks
            name="connections"
            legend="Connections"
            help="That failed, or through which a claim was read. Without a mark, every one."
          >
            {connections.map((one) => (
              <Tick field="connections" value={one.id} isTicked={filters.connections.includes(one.id)}>
                <Name of={one.name} /> <code>{one.id}</code>
              </Tick>
            ))}
          </Ticks>
        )}
        <Actions
          submit={isNew ? 'Add the webhook' : 'Change the webhook'}
          href={isNew ? at.webhooks : at.webhook(id)}
        />
      </PostForm>
    </ConsolePage>
  )
}

function Ticks({
  name,
  legend,
  help,
  children,
}: {
  name: string
  legend: string
  help: string
  children: ComponentChildren
}) {
  return (
    <fieldset aria-describedby={`${name}-help`}>
      <legend>{legend}</legend>
      {children}
      <p class="help" id={`${name}-help`}>
        {help}
      </p>
    </fieldset>
  )
}

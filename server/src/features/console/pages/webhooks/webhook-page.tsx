/** The page of one webhook: its state, its test, and its deliveries. */
import type * as wire from '@claimcheck/core/api'
import { DELIVERY_STATES, type DeliveryFault, type DeliveryState } from '../../../../storage/webhooks.ts'
import { Facts } from '../../../../web/parts/facts.tsx'
import { type Column, ROW_HEAD, Table } from '../../../../web/parts/table.tsx'
import { Time, useNow } from '../../../../web/parts/values.tsx'
import type { Try } from '../../../webhooks/sender.ts'
import type { WebhookTarget } from '../../../webhooks/webhooks.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { ButtonForm } from '../../parts/form.tsx'
import { Pager } from '../../parts/pager.tsx'
import { FORMAT_WORDS, filterWords, WebhookState } from './webhook-list.tsx'

const FAULT_WORDS: Readonly<Record<DeliveryFault, string>> = {
  unreachable: 'its host was not reached, or may not be called',
  timeout: 'no answer within 10 seconds',
  bad_answer: 'its answer was no valid HTTP, or not that of the chosen chat service',
  redirect: 'it answered with a redirect, which is not followed',
  status: 'it did not accept the message',
  gone: 'it answered that it is gone, or takes nothing more',
  rejected: 'its service never takes this message',
  expired: 'its event is no longer stored',
  removed: 'its webhook was removed',
  unreadable: 'the service lacks the key that sealed the address',
}

interface ShownDeliveries extends wire.WebhookDeliveryList {
  readonly state: DeliveryState | undefined
  readonly isFirst: boolean
}

interface WebhookPageProps {
  readonly webhook: WebhookTarget
  readonly deliveries: ShownDeliveries
  readonly tested?: Try
  readonly problem?: string | undefined
}

export function WebhookPage({ webhook, deliveries, tested, problem }: WebhookPageProps) {
  const { at } = useWorkspace()
  const { id, format, origin, filters, report, state, lastDeliveredAt, formerUntil, quietUntil } = webhook
  const isOn = state === 'on'
  const isQuiet = (quietUntil ?? 0) > useNow()
  return (
    <ConsolePage
      title="Webhook"
      section="developers"
      problem={problem}
      actions={
        <>
          <ButtonForm action={at.testWebhook(id)}>Send a test</ButtonForm>
          {report === null && (
            <a class="button quiet" href={at.changeWebhook(id)}>
              Change
            </a>
          )}
          {format === 'standard' && (
            <a class="button quiet" href={at.webhookSecret(id)}>
              Replace the secret
            </a>
          )}
          <ButtonForm action={isOn ? at.switchWebhookOff(id) : at.switchWebhookOn(id)}>
            {isOn ? 'Switch off' : 'Switch on'}
          </ButtonForm>
          <a class="button quiet" href={at.removeWebhook(id)}>
            Remove
          </a>
        </>
      }
    >
      {tested && <Tested tested={tested} />}
      <Facts
        rows={[
          ['Receiver', origin],
          ['For', FORMAT_WORDS[format]],
          ['Id', <code>{id}</code>],
          ['Events', filterWords(filters)],
          ...(report === null
            ? []
            : [
                ['Repositories', report.repositories.join(', ')] as const,
                ['Reports as', <code>{report.reporter}</code>] as const,
              ]),
          ['State', <WebhookState webhook={webhook} />],
          ['Last delivered', <Time at={lastDeliveredAt} none="never" />],
          ...(formerUntil === null ? [] : [['Former secret', <Time at={formerUntil} />] as const]),
          ...(isQuiet ? [['Asked to wait until', <Time at={quietUntil} />] as const] : []),
        ]}
      />
      <h2>Deliveries</h2>
      <Deliveries id={id} deliveries={deliveries} />
    </ConsolePage>
  )
}

function Tested({ tested: { status, durationMs, fault } }: { tested: Try }) {
  const answer = status === null ? '' : `It answered ${status} after ${durationMs} ms. `
  return (
    <p class={fault === null ? 'notice' : 'notice problem'} role="status">
      {fault === null ? `${answer}The test has arrived.` : `${answer}The test did not arrive: ${FAULT_WORDS[fault]}.`}
    </p>
  )
}

function Deliveries({
  id,
  deliveries: { deliveries, next_cursor, state, isFirst },
}: {
  id: string
  deliveries: ShownDeliveries
}) {
  const { at } = useWorkspace()
  const path = at.webhook(id)
  const pathOf = (query: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams({ ...(state && { state }), ...query }).toString()
    return text === '' ? path : `${path}?${text}`
  }
  const columns: readonly Column<wire.WebhookDelivery>[] = [
    ['Message', (row) => <code>{row.id}</code>, ROW_HEAD],
    ['Event', (row) => `${row.event}: ${row.type}`],
    ['About', (row) => <Subject row={row} />],
    ['State', (row) => <DeliveryStanding row={row} />],
    ['Last try', (row) => <LastTry row={row} />],
    ['Tries', (row) => String(row.attempts)],
    [
      'Action',
      (row) => (
        <ButtonForm action={at.resendDelivery(id)} class="row" fields={{ id: row.id }} label={`Send ${row.id} again`}>
          {row.state === 'waiting' ? 'Send now' : 'Send again'}
        </ButtonForm>
      ),
    ],
  ]
  return (
    <>
      <nav class="pager" aria-label="State of deliveries">
        <a href={path} aria-current={state === undefined ? 'true' : undefined}>
          All
        </a>
        {DELIVERY_STATES.map((one) => (
          <a href={`${path}?state=${one}`} aria-current={state === one ? 'true' : undefined}>
            {one}
          </a>
        ))}
      </nav>
      {deliveries.length === 0 ? (
        <p>There are none here.</p>
      ) : (
        <Table stacks label="Deliveries" columns={columns} rows={deliveries} />
      )}
      <Pager
        label="Pages of deliveries"
        newest={isFirst ? undefined : pathOf({})}
        older={next_cursor === null ? undefined : pathOf({ cursor: next_cursor })}
      />
    </>
  )
}

function Subject({ row: { type, subject } }: { row: wire.WebhookDelivery }) {
  const { at } = useWorkspace()
  return type === 'claim.decided' ? <a href={at.claim(subject)}>{subject}</a> : <code>{subject}</code>
}

function DeliveryStanding({ row: { state, fault, next_try_at } }: { row: wire.WebhookDelivery }) {
  const why = fault === null || state === 'delivered' ? '' : `: ${FAULT_WORDS[fault]}`
  return (
    <>
      {state}
      {why}
      {next_try_at !== null && (
        <>
          {', next try '}
          <Time at={Date.parse(next_try_at)} />
        </>
      )}
    </>
  )
}

function LastTry({ row: { last_try } }: { row: wire.WebhookDelivery }) {
  if (last_try === null) return <span class="none">–</span>
  const { at, status, duration_ms } = last_try
  return (
    <>
      <Time at={Date.parse(at)} />: {status ?? 'no answer'}, {duration_ms} ms
    </>
  )
}

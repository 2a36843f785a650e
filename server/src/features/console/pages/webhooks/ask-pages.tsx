/** The pages that show the secret of a webhook once, replace it, and remove a webhook. */
import { Facts } from '../../../../web/parts/facts.tsx'
import { Code, Time } from '../../../../web/parts/values.tsx'
import { publicPaths } from '../../../../web/paths.ts'
import type { NewWebhook, WebhookTarget } from '../../../webhooks/webhooks.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'
import { Actions, AskForm, PostForm, Select } from '../../parts/form.tsx'
import { filterWords } from './webhook-list.tsx'

export function NewWebhookSecret({ made: { target, secret } }: { made: NewWebhook }) {
  const { at } = useWorkspace()
  const { id, origin, formerUntil } = target
  return (
    <ConsolePage title="The secret of your webhook" section="developers">
      <p class="notice warning">
        <strong>Copy this secret now: it is not shown again.</strong>
      </p>
      <Code text={secret} label="the secret" />
      <p>
        What {origin} gets is signed by it. <a href={`${publicPaths.docs}/webhooks`}>How to check signatures</a>
      </p>
      {formerUntil !== null && (
        <p>
          The former secret signs, too, until <Time at={formerUntil} />.
        </p>
      )}
      <p>
        <a class="button" href={at.webhook(id)}>
          I have copied the secret
        </a>
      </p>
    </ConsolePage>
  )
}

const OVERLAPS = [
  ['1h', '1 hour'],
  ['24h', '1 day'],
  ['7d', '7 days'],
  ['0m', 'no time'],
] as const

export function ReplaceSecret({ webhook, problem }: { webhook: WebhookTarget; problem: string | undefined }) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title="Replace this secret?" section="developers" problem={problem}>
      <WebhookFacts webhook={webhook} />
      <p>
        You get a new secret. For the time that you choose messages are signed by both, so that you can put the new one
        in its place. If the old one has leaked, choose no time.
      </p>
      <PostForm action={at.webhookSecret(webhook.id)}>
        <Select name="overlap" label="The old secret goes on for" options={OVERLAPS} value="24h" />
        <Actions submit="Make the new secret" cancel="Keep it as it is" href={at.webhook(webhook.id)} />
      </PostForm>
    </ConsolePage>
  )
}

export function RemoveWebhook({ webhook }: { webhook: WebhookTarget }) {
  const { at } = useWorkspace()
  return (
    <ConsolePage title="Remove this webhook?" section="developers">
      <WebhookFacts webhook={webhook} />
      <p>Nothing more is sent to it, also what waits now. Its address and its secret are deleted.</p>
      <AskForm
        action={at.removeWebhook(webhook.id)}
        submit="Remove the webhook"
        danger
        cancel="Keep it"
        href={at.webhook(webhook.id)}
      />
    </ConsolePage>
  )
}

function WebhookFacts({ webhook: { id, origin, filters } }: { webhook: WebhookTarget }) {
  return (
    <Facts
      rows={[
        ['Receiver', origin],
        ['Id', <code>{id}</code>],
        ['Events', filterWords(filters)],
      ]}
    />
  )
}

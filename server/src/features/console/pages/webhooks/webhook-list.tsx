/** The list of a workspace's webhooks. */

import type { OffReason, WebhookFilters, WebhookFormat } from '../../../../storage/webhooks.ts'
import { type Column, Empty, ROW_HEAD, Table } from '../../../../web/parts/table.tsx'
import { Time } from '../../../../web/parts/values.tsx'
import { publicPaths } from '../../../../web/paths.ts'
import type { WebhookTarget } from '../../../webhooks/webhooks.ts'
import { ConsolePage, useWorkspace } from '../../page.tsx'

const OFF_WORDS: Readonly<Record<OffReason, string>> = {
  owner: 'off',
  gone: 'off: its receiver answered that it is gone, or takes nothing more',
  failing: 'off: nothing arrived for three days',
}

export const FORMAT_WORDS: Readonly<Record<WebhookFormat, string>> = {
  standard: 'a program of yours',
  slack: 'people in Slack',
  discord: 'people in Discord',
  mattermost: 'people in Mattermost',
  teams: 'people in Microsoft Teams',
  github: 'commits at GitHub, as statuses',
  github_app: 'commits at GitHub, as check runs',
  gitlab: 'commits at GitLab, as statuses',
  gitea: 'commits at Gitea or Forgejo, as statuses',
}

export function WebhookList({
  webhooks,
  waiting,
}: {
  webhooks: readonly WebhookTarget[]
  waiting: ReadonlyMap<string, number>
}) {
  const { at } = useWorkspace()
  const columns: readonly Column<WebhookTarget>[] = [
    ['Receiver', ({ id, origin }) => <a href={at.webhook(id)}>{origin}</a>, ROW_HEAD],
    ['For', ({ format }) => FORMAT_WORDS[format]],
    ['Events', ({ filters }) => filterWords(filters)],
    ['State', (webhook) => <WebhookState webhook={webhook} />],
    ['Waiting', ({ id }) => (waiting.get(id) ?? 0).toLocaleString('en')],
    ['Last delivered', ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} none="never" />],
  ]
  const add = (
    <>
      <a class="button" href={at.newWebhook}>
        Add a webhook
      </a>
      <a class="button quiet" href={`${at.newWebhook}?format=slack`}>
        Alert people in a chat
      </a>
      <a class="button quiet" href={at.newReport}>
        Report on commits
      </a>
    </>
  )
  return (
    <ConsolePage title="Webhooks" section="developers" actions={webhooks.length > 0 && add}>
      <p>
        A webhook sends the events of this workspace to your own program, signed, at least once, and those of a claim in
        their order. <a href={`${publicPaths.docs}/webhooks`}>How to receive them</a>. It can also tell people, in{' '}
        <a href={`${publicPaths.docs}/alerts`}>Slack, Discord, Mattermost or Teams</a>, and{' '}
        <a href={`${publicPaths.docs}/reports`}>report on commits</a> at code hosts.
      </p>
      {webhooks.length === 0 ? (
        <Empty heading="No webhooks yet">{add}</Empty>
      ) : (
        <Table stacks label="Webhooks" columns={columns} rows={webhooks} />
      )}
    </ConsolePage>
  )
}

export function WebhookState({ webhook: { offReason, stateAt } }: { webhook: WebhookTarget }) {
  if (offReason === null) return 'on'
  return (
    <span class="none">
      {OFF_WORDS[offReason]}, since <Time at={stateAt} />
    </span>
  )
}

/** Says which events a webhook gets. */
export function filterWords({ types, verdicts, actions, agents, connections }: WebhookFilters): string {
  const parts = [
    types.length > 0 ? types.join(', ') : 'all events',
    verdicts.length > 0 ? `verdicts: ${verdicts.join(', ')}` : '',
    actions.length > 0 ? `actions: ${actions.join(', ')}` : '',
    agents.length > 0 ? `agents: ${agents.join(', ')}` : '',
    connections.length > 0 ? `connections: ${connections.join(', ')}` : '',
  ]
  return parts.filter((part) => part !== '').join('; ')
}

/**
 * The page for the retention of a workspace, the time for which it keeps the content of its receipts: every member reads it, owners set it. A shorter
 * time asks first.
 */

import type { VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { Name } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import { MOST_DAYS } from '../../erasure/retention.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, FRESH_SIGN_IN, refusalOf } from '../form-page.tsx'
import { ConsolePage, useWorkspace, type ViewedWorkspace } from '../page.tsx'
import { AskForm, ButtonForm, Field } from '../parts/form.tsx'

const MOST_COUNTED = 10_000

export function retentionRoutes(app: App, services: ConsoleDependencies): void {
  const { retention, config } = services

  /**
   * Requires that owners may set retentions.
   * @throws ServiceError `not_found` where they may not
   */
  function requireByOwners(): void {
    if (!config.retention.byOwners) throw new ServiceError('not_found', 'there is no such page')
  }

  addPage(app, services, '/retention', {
    show: ({ workspace, refused }) => retentionPage(services, workspace, refused?.values.days ?? '', refused?.problem),
    form: {
      owners: true,
      // Erasing needs a fresh sign-in, so that a person who finds an open browser erases nothing.
      ...FRESH_SIGN_IN,
      save: async ({ workspace, form: { days = '' }, by }) => {
        requireByOwners()
        await retention.set(workspace.id, days === 'off' ? null : readDays(days), by)
      },
      done: 'retention-changed',
    },
  })

  addPage(app, services, '/retention/change', {
    owners: true,
    load: requireByOwners,
    show: async ({ workspace, query }) => {
      const typed = query.days?.trim() ?? ''
      try {
        const days = readDays(typed)
        retention.check(days)
        return <Ask days={days} older={await retention.olderThan(workspace.id, days, MOST_COUNTED)} />
      } catch (error) {
        return { page: await retentionPage(services, workspace, typed, refusalOf(error)), status: 422 }
      }
    },
  })
}

/**
 * Reads the number of days.
 * @throws ServiceError `bad_request`
 */
function readDays(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new ServiceError('bad_request', 'write a whole number of days')
}

/**
 * Makes the page.
 * @param problem the mistake in the typed number, if there is one
 */
async function retentionPage(
  { retention, config }: ConsoleDependencies,
  { id, isOwner, at }: ViewedWorkspace,
  typed: string,
  problem: string | undefined,
): Promise<VNode> {
  const { byOwners, leastDays } = config.retention
  const days = await retention.days(id)
  return (
    <ConsolePage title="Retention" section="members">
      <p id="kept">
        {days === null
          ? 'This workspace keeps the content of its receipts for ever.'
          : `This workspace keeps the content of its receipts for ${days} days. Older content is erased, for ever.`}
      </p>
      <p>
        What is erased: what the receipt says, its evidence, and the agent, target, params and checks of the claim. What
        stays: the entry in the log with its hash and its proofs, the receipt’s id and time, the verdict, and a note
        that the content was erased, when, and by this rule. Copies that others have stay with them, and still verify.
      </p>
      {isOwner && byOwners ? (
        <>
          <form method="get" action={`${at.retention}/change`}>
            <Field
              name="days"
              label="Keep for so many days"
              value={problem === undefined ? days?.toString() : typed}
              problem={problem && sentence(problem)}
              help={`From ${leastDays} to ${MOST_DAYS}. The next page asks before anything changes.`}
              required
              inputmode="numeric"
              maxLength={6}
              autocomplete="off"
            />
            <button type="submit">Continue</button>
          </form>
          {days !== null && (
            <ButtonForm action={at.retention} fields={{ days: 'off' }}>
              Keep from now on for ever
            </ButtonForm>
          )}
        </>
      ) : (
        <p>{byOwners ? 'An owner of the workspace can change this.' : 'The operator of this service sets this.'}</p>
      )}
    </ConsolePage>
  )
}

/**
 * The page that asks before a shorter time.
 * @param older the number of receipts that are older already
 */
function Ask({ days, older }: { days: number; older: number }) {
  const { at, name } = useWorkspace()
  const counted = older >= MOST_COUNTED ? `${MOST_COUNTED.toLocaleString('en')} or more` : older.toLocaleString('en')
  return (
    <ConsolePage title={`Erase receipts after ${days} days?`} section="members">
      <p>
        The content of every receipt of <Name of={name} /> that is older than {days} days is erased, with its evidence
        and its claim, from the next minutes on and for as long as this is set. It cannot be brought back, also not by
        setting a longer time later.
      </p>
      <p class="notice warning" id="older">
        Older already, and erased first: {counted} {older === 1 ? 'receipt' : 'receipts'}.
      </p>
      <AskForm
        action={at.retention}
        submit={`Erase after ${days} days`}
        danger
        href={at.retention}
        fields={{ days: String(days) }}
      />
    </ConsolePage>
  )
}

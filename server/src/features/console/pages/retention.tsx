/** How long a workspace keeps the content of its receipts: every member reads it, owners set it. A shorter time asks first. */

import type { FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { Name } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import { MOST_DAYS } from '../../erasure/retention.ts'
import { answerForm, saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ownersNow } from '../fresh-sign-in.ts'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { AskForm, Field, PostForm } from '../parts/form.tsx'
import { formOf, queryOf } from '../request-fields.ts'
import { actingOf, ownersOnly, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

const MOST_COUNTED = 10_000

export function retentionRoutes(app: App, services: ConsoleDependencies): void {
  const { retention, config } = services
  const { byOwners } = config.retention
  // A person who finds an open browser erases nothing.
  const guarded = { ...KEEPS_ALL, ...ownersNow(services) }

  /** @throws ServiceError `not_found` where owners do not set it */
  function requireOwners(): void {
    if (!byOwners) throw new ServiceError('not_found', 'there is no such page')
  }

  app.get('/retention', async (request, reply) => showPage(request, reply, await page(services, request)))

  app.get('/retention/change', { preHandler: ownersOnly }, async (request, reply) => {
    requireOwners()
    const typed = queryOf(request).days?.trim() ?? ''
    return answerForm(request, reply, {
      work: async () => {
        const days = readDays(typed)
        retention.check(days)
        const older = await retention.olderThan(workspaceOf(request).id, days, MOST_COUNTED)
        return { page: <Ask days={days} older={older} /> }
      },
      refused: (problem) => page(services, request, { typed, problem: sentence(problem) }),
    })
  })

  app.post('/retention', guarded, async (request, reply) => {
    requireOwners()
    const { id } = workspaceOf(request)
    const { days = '' } = formOf(request)
    return saveForm(request, reply, {
      work: async () => retention.set(id, days === 'off' ? null : readDays(days), actingOf(request)),
      next: `${paths.retention(id)}?done=retention-changed`,
      refused: (problem) => page(services, request, { typed: days, problem: sentence(problem) }),
    })
  })
}

/** @throws ServiceError `bad_request` */
function readDays(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new ServiceError('bad_request', 'write a whole number of days')
}

async function page(
  { retention, config }: ConsoleDependencies,
  request: FastifyRequest,
  { typed, problem }: { readonly typed?: string; readonly problem?: string } = {},
): Promise<VNode> {
  const { id, isOwner } = workspaceOf(request)
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
          <form method="get" action={`${paths.retention(id)}/change`}>
            <Field
              name="days"
              label="Keep for so many days"
              value={typed ?? (days === null ? undefined : String(days))}
              problem={problem}
              help={`From ${leastDays} to ${MOST_DAYS}. The next page asks before anything changes.`}
              required
              inputmode="numeric"
              maxLength={6}
              autocomplete="off"
            />
            <button type="submit">Continue</button>
          </form>
          {days === null ? null : (
            <PostForm action={paths.retention(id)}>
              <input type="hidden" name="days" value="off" />
              <button type="submit" class="quiet">
                Keep from now on for ever
              </button>
            </PostForm>
          )}
        </>
      ) : (
        <p>{byOwners ? 'An owner of the workspace can change this.' : 'The operator of this service sets this.'}</p>
      )}
    </ConsolePage>
  )
}

interface AskProps {
  readonly days: number
  /** How many receipts are older already. */
  readonly older: number
}

function Ask({ days, older }: AskProps) {
  const { id, name } = useWorkspace()
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
      <AskForm action={paths.retention(id)} submit={`Erase after ${days} days`} danger href={paths.retention(id)}>
        <input type="hidden" name="days" value={String(days)} />
      </AskForm>
    </ConsolePage>
  )
}

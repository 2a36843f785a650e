/** The consent page: which application may do what for a person, and in which workspace. */

import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../http/instance.ts'
import { confirmPath, paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { Facts } from '../../../web/parts/facts.tsx'
import { Name } from '../../../web/parts/values.tsx'
import type { ConsentRequest, Exchange } from '../../oauth/oauth.ts'
import { OAUTH_PATHS } from '../../oauth/paths.ts'
import { redirectPlace } from '../../oauth/redirect-uris.ts'
import { allowedTo, scopeWords } from '../../oauth/scopes.ts'
import type { WorkspaceOfMember } from '../../people/members.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { guarded, leadAway } from '../form-page.tsx'
import { PlainPage, type Viewer } from '../page.tsx'
import { PostForm, Select } from '../parts/form.tsx'
import { formOf } from '../request-fields.ts'
import { sessionOf, viewerOf } from '../session.ts'
import { isFresh } from '../sign-in-again.ts'
import { RULE_WORDS } from '../weak-sign-in.tsx'
import { ROLE_WORDS } from '../words.ts'

type Uid = { Params: { uid: string } }

/** Adds the routes of the consent page, which need a session. */
export function consentRoutes(app: App, services: ConsoleDependencies): void {
  const { oauth, sessions, members, now } = services

  function show(request: FastifyRequest<Uid>, reply: FastifyReply, asked: ConsentRequest, problem?: string) {
    const page = <Consent uid={request.params.uid} asked={asked} viewer={viewerOf(request)!} problem={problem} />
    return sendPage(reply, page, problem === undefined ? 200 : 422)
  }

  app.get<Uid>(OAUTH_PATHS.consentRoute, async (request, reply) => {
    const asked = await oauth.consentRequest(request.params.uid, exchangeOf(request, reply))
    return isFresh(request, now) ? show(request, reply, asked) : reply.redirect(confirmPath(request.url), 303)
  })

  const decides = guarded(services, { freshSignIn: 'asks in the handler, where the answer is to allow' })
  app.post<Uid>(OAUTH_PATHS.consentRoute, decides, async (request, reply) => {
    const { uid } = request.params
    const signedIn = sessionOf(request)
    const exchange = exchangeOf(request, reply)
    const asked = await oauth.consentRequest(uid, exchange)
    const { decision, workspace: id } = formOf(request)
    const application = visibleName(asked.clientName)
    if (decision === 'deny') return leadAway(reply, await oauth.deny(uid, exchange), application)
    if (decision !== 'allow') return show(request, reply, asked, 'choose Allow or Do not allow')
    // An application acts for the person until they stop it, as a key does.
    if (!isFresh(request, now)) return reply.redirect(confirmPath(request.url), 303)
    const workspace = viewerOf(request)!.workspaces.find((one) => one.id === id)
    if (!workspace) return show(request, reply, asked, 'choose one of your workspaces')
    if (!workspace.isOpen) {
      const problem = `${visibleName(workspace.name)} asks for ${RULE_WORDS[workspace.signInRule]} at signing in`
      return show(request, reply, asked, problem)
    }
    const scopes = allowedTo(workspace.role, asked.scopes)
    if (scopes.length === 0) {
      return show(request, reply, asked, `only owners of ${visibleName(workspace.name)} may allow what is asked for`)
    }
    // The sign-in is confirmed after the grant is stored: a new password, a stricter rule, or a second step that is switched off ends grants, and
    // must not miss one that is made in the same moment.
    const confirm = async () => {
      await sessions.confirm(signedIn.user)
      await members.confirmSignIn(workspace.id, signedIn)
    }
    const url = await oauth.allow(uid, exchange, { memberId: workspace.memberId, scopes, confirm })
    return leadAway(reply, url, application)
  })
}

function exchangeOf(request: FastifyRequest, reply: FastifyReply): Exchange {
  return { request: request.raw, response: reply.raw, address: request.ip }
}

function Consent({
  uid,
  asked,
  viewer,
  problem,
}: {
  uid: string
  asked: ConsentRequest
  viewer: Viewer
  problem: string | undefined
}) {
  const { user } = viewer
  const workspaces = viewer.workspaces.filter(({ isOpen }) => isOpen)
  const closed = viewer.workspaces.filter(({ isOpen }) => !isOpen)
  const possible = workspaces.filter(({ role }) => allowedTo(role, asked.scopes).length > 0)
  return (
    <PlainPage title={`Allow ${visibleName(asked.clientName)}?`} problem={problem} csrf={viewer.csrf}>
      <p>
        <strong>
          <Name of={asked.clientName} />
        </strong>{' '}
        asks to act for you,{' '}
        <strong>
          <Name of={user.name} />
        </strong>{' '}
        ({user.email}). It does not get your password. You can stop it at any time under{' '}
        <a href={paths.applications}>Connected applications</a>.
      </p>
      <h2>It asks to</h2>
      <Scopes asked={asked} workspaces={workspaces} />
      <h2>The application</h2>
      {!asked.isConfigured && (
        <p>It registered itself, and gave itself this name, as any program may: look at where it leads back to.</p>
      )}
      <Facts
        rows={[
          ['Leads back to', redirectPlace(asked.redirectUri)],
          ['Its token is for', asked.resources.map((resource) => <code>{resource}</code>)],
          ['Its id', <code>{asked.clientId}</code>],
        ]}
      />
      <PostForm action={OAUTH_PATHS.consent(uid)}>
        <WorkspaceChoice workspaces={possible} />
        {closed.map(({ name, signInRule }) => (
          <p class="help">
            <Name of={name} /> is left out: it asks for {RULE_WORDS[signInRule]} at signing in.
          </p>
        ))}
        <div class="actions">
          {possible.length > 0 && (
            <button type="submit" name="decision" value="allow">
              Allow
            </button>
          )}
          <button type="submit" name="decision" value="deny" class="quiet">
            Do not allow
          </button>
        </div>
      </PostForm>
    </PlainPage>
  )
}

function Scopes({ asked, workspaces }: { asked: ConsentRequest; workspaces: Viewer['workspaces'] }) {
  return (
    <ul>
      {asked.scopes.map((scope) => {
        const able = workspaces.filter(({ role }) => allowedTo(role, [scope]).length > 0)
        return (
          <li>
            {able.length === 0 ? <del>{scopeWords(scope)}</del> : scopeWords(scope)} <code>{scope}</code>
            <OnlyOwners able={able} workspaces={workspaces} />
          </li>
        )
      })}
    </ul>
  )
}

/**
 * A note on a scope that only owners may allow.
 * @param able the workspaces for which this person may allow it
 */
function OnlyOwners({ able, workspaces }: Readonly<Record<'able' | 'workspaces', readonly WorkspaceOfMember[]>>) {
  if (able.length === workspaces.length) return null
  if (able.length === 0)
    return <p class="help">Left out: only owners of a workspace may allow this, and you are a member.</p>
  const names = able.map(({ name }) => visibleName(name)).join(', ')
  return <p class="help">Only where you are an owner: {names}. Elsewhere it is left out.</p>
}

function WorkspaceChoice({ workspaces }: { workspaces: readonly WorkspaceOfMember[] }) {
  const [first, ...others] = workspaces
  if (!first) return <p>You may not allow any of this: ask an owner of a workspace.</p>
  if (others.length > 0) {
    const options = workspaces.map(({ id, name, role }) => [id, `${visibleName(name)} (${role})`] as const)
    return <Select name="workspace" label="In the workspace" options={options} />
  }
  return (
    <>
      <input type="hidden" name="workspace" value={first.id} />
      <p>
        In the workspace{' '}
        <strong>
          <Name of={first.name} />
        </strong>
        , where you are {ROLE_WORDS[first.role]}.
      </p>
    </>
  )
}

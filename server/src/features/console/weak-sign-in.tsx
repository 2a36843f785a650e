/** The page in place of a workspace that asks for another kind of sign-in: it says what to set up, and nothing else of the workspace. */

import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { confirmPath, paths } from '../../web/console-paths.ts'
import { sendPage } from '../../web/document.tsx'
import { Name } from '../../web/parts/values.tsx'
import type { SignedInBy, SignInRule } from '../people/sign-in-rules.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import { PlainPage } from './page.tsx'
import { sessionOf, workspaceOf } from './session.ts'

export const RULE_WORDS: Readonly<Record<SignInRule, string>> = {
  any: 'any sign-in',
  second_step: 'a passkey, or a password and a second step',
  passkey: 'a passkey',
}

export function answerWeak({ passkeys, secondSteps }: ConsoleDependencies) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { user, session } = sessionOf(request)
    const { name, signInRule } = workspaceOf(request)
    const hasPasskey = (await passkeys.list(user.id)).length > 0
    const hasSecondStep = (await secondSteps.find(user.id)) !== undefined
    const isSetUp = hasPasskey || (signInRule === 'second_step' && hasSecondStep)
    const props = { name, rule: signInRule, method: session.method, isSetUp }
    return sendPage(reply, <Weak {...props} page={request.method === 'GET' ? request.url : paths.home} />, 403)
  }
}

interface WeakProps {
  readonly name: string
  readonly rule: SignInRule
  readonly method: SignedInBy
  /** True if the method is set up, but was not used to sign in. */
  readonly isSetUp: boolean
  /** The address of the page that was asked for. */
  readonly page: string
}

const METHOD_WORDS: Readonly<Record<SignedInBy, string>> = {
  password: 'a password alone',
  password_and_code: 'a password and a code',
  passkey: 'a passkey',
  outside: 'an OpenID provider',
}

function Weak({ name, rule, method, isSetUp, page }: WeakProps) {
  return (
    <PlainPage title={`${visibleName(name)} asks for more`}>
      <p>
        The owners of{' '}
        <strong>
          <Name of={name} />
        </strong>{' '}
        ask for {RULE_WORDS[rule]} at signing in. You signed in with {METHOD_WORDS[method]}, so nothing of this
        workspace is shown to you now.
      </p>
      {isSetUp ? (
        <p>
          <a class="button" href={confirmPath(page)}>
            Sign in again
          </a>
        </p>
      ) : (
        <SetUp rule={rule} />
      )}
      <p>
        <a href={paths.account}>Go to your account</a>
      </p>
    </PlainPage>
  )
}

function SetUp({ rule }: Pick<WeakProps, 'rule'>) {
  return (
    <ul>
      <li>
        <a href={paths.account}>Add a passkey</a> to your account, and sign in with it.
      </li>
      {rule === 'second_step' ? (
        <li>
          Or <a href={paths.secondStep}>set up a second step</a>: codes of an app on your phone.
        </li>
      ) : null}
    </ul>
  )
}

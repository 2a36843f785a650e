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

const METHOD_WORDS: Readonly<Record<SignedInBy, string>> = {
  password: 'a password alone',
  password_and_code: 'a password and a code',
  passkey: 'a passkey',
  outside: 'an OpenID provider',
}

export function answerWeak({ passkeys, secondSteps }: ConsoleDependencies) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { user, session } = sessionOf(request)
    const { name, signInRule } = workspaceOf(request)
    const takesSecondStep = signInRule === 'second_step'
    const hasPasskey = (await passkeys.list(user.id)).length > 0
    const isSetUp = hasPasskey || (takesSecondStep && (await secondSteps.find(user.id)) !== undefined)
    const page = (
      <PlainPage title={`${visibleName(name)} asks for more`}>
        <p>
          The owners of{' '}
          <strong>
            <Name of={name} />
          </strong>{' '}
          ask for {RULE_WORDS[signInRule]} at signing in. You signed in with {METHOD_WORDS[session.method]}, so nothing
          of this workspace is shown to you now.
        </p>
        {isSetUp ? (
          <p>
            <a class="button" href={confirmPath(request.method === 'GET' ? request.url : paths.home)}>
              Sign in again
            </a>
          </p>
        ) : (
          <ul>
            <li>
              <a href={paths.account}>Add a passkey</a> to your account, and sign in with it.
            </li>
            {takesSecondStep && (
              <li>
                Or <a href={paths.secondStep}>set up a second step</a>: codes of an app on your phone.
              </li>
            )}
          </ul>
        )}
        <p>
          <a href={paths.account}>Go to your account</a>
        </p>
      </PlainPage>
    )
    return sendPage(reply, page, 403)
  }
}

/** The page of the second step: setting it up with an authenticator app, its recovery codes, and switching it off. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { Code, Time } from '../../../web/parts/values.tsx'
import type { SecondStep, SetUp } from '../../people/second-steps.ts'
import { createAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { AskForm, Field, PostForm } from '../parts/form.tsx'
import { refusalOf } from '../refusal.ts'
import { formOf } from '../request-fields.ts'
import { actingOf, sessionOf, viewerOf } from '../session.ts'

export function secondStepRoutes(app: App, services: ConsoleDependencies): void {
  const { secondSteps, counters, config } = services
  const attempts = createAttempts(counters, config.signInLimit)
  const fresh = { preHandler: freshSignInOnly(services) }

  app.get(paths.secondStep, fresh, async (request, reply) => show(request, reply))

  app.post(paths.secondStep, fresh, async (request, reply) => {
    const { user, session } = sessionOf(request)
    const { ticket = '', code = '' } = formOf(request)
    await attempts.count(request, reply)
    try {
      const answer = await secondSteps.confirm(user, session.id, { ticket, code }, actingOf(request))
      if (!('secret' in answer)) return sendCodes(request, reply, answer)
      const problem = 'the code is not right: type the one that your app shows now, and check the time of your phone'
      return await sendSetUp(request, reply, answer, problem)
    } catch (error) {
      return show(request, reply, refusalOf(error))
    }
  })

  app.post(paths.recoveryCodes, fresh, async (request, reply) => {
    try {
      return sendCodes(request, reply, await secondSteps.replaceCodes(sessionOf(request).user, actingOf(request)))
    } catch (error) {
      return show(request, reply, refusalOf(error))
    }
  })

  app.post(paths.secondStepOff, fresh, async (request, reply) => {
    try {
      await secondSteps.switchOff(sessionOf(request).user, actingOf(request))
      return reply.redirect(`${paths.account}?done=second-step-off`, 303)
    } catch (error) {
      return show(request, reply, refusalOf(error))
    }
  })

  async function show(request: FastifyRequest, reply: FastifyReply, problem?: string): Promise<FastifyReply> {
    const { user } = sessionOf(request)
    const viewer = viewerOf(request)
    const status = problem === undefined ? 200 : 422
    const state = await secondSteps.find(user.id)
    if (state) return sendPage(reply, <Change {...{ viewer, state, problem }} />, status)
    if (!user.hasPassword) return sendPage(reply, <NoPassword viewer={viewer} problem={problem} />, status)
    return sendSetUp(request, reply, await secondSteps.begin(user), problem)
  }

  async function sendSetUp(request: FastifyRequest, reply: FastifyReply, setUp: SetUp, problem?: string) {
    const props = { viewer: viewerOf(request), setUp, matrix: await matrixOf(setUp.uri), problem }
    return sendPage(reply, <SettingUp {...props} />, problem === undefined ? 200 : 422)
  }
}

function sendCodes(request: FastifyRequest, reply: FastifyReply, codes: readonly string[]): FastifyReply {
  return sendPage(reply, <NewCodes viewer={viewerOf(request)} codes={codes} />, 201)
}

interface PageProps {
  readonly viewer: Viewer
  readonly problem?: string | undefined
}

function SettingUp({ viewer, setUp, matrix, problem }: PageProps & { readonly setUp: SetUp; readonly matrix: Matrix }) {
  return (
    <ConsolePage title="Set up a second step" viewer={viewer} section="account" problem={problem}>
      <ol>
        <li>Open an authenticator app on your phone, and add an account.</li>
        <li>
          Scan this picture, or type the key below it.
          <QrCode matrix={matrix} label="The key of your second step, for an authenticator app" />
          <Code text={setUp.secret} label="the key" />
          <p class="help">
            Time-based, SHA-1, 6 digits, every 30 seconds. On the phone itself: <a href={setUp.uri}>open in the app</a>.
          </p>
        </li>
        <li>Type the code that the app shows now.</li>
      </ol>
      <PostForm action={paths.secondStep}>
        <input type="hidden" name="ticket" value={setUp.ticket} />
        <Field
          name="code"
          label="Code"
          required
          inputmode="numeric"
          maxLength={10}
          autocomplete="one-time-code"
          help="All your other sessions end when the second step begins."
        />
        <button type="submit">Switch it on</button>
      </PostForm>
    </ConsolePage>
  )
}

function NewCodes({ viewer, codes }: PageProps & { readonly codes: readonly string[] }) {
  return (
    <ConsolePage title="Your recovery codes" viewer={viewer} section="account">
      <p class="notice warning">
        <strong>Keep these codes now: they are not shown again.</strong> Print them, or put them into a password
        manager.
      </p>
      <p>
        When your phone is lost, each of them signs you in once, instead of a code of the app. Earlier recovery codes
        work no more.
      </p>
      <Code text={codes.join('\n')} label="the recovery codes" />
      <p>
        <a class="button" href={paths.account}>
          I have kept the codes
        </a>
      </p>
    </ConsolePage>
  )
}

interface ChangeProps extends PageProps {
  readonly state: SecondStep
}

function Change({ viewer, state, problem }: ChangeProps) {
  const { createdAt, lastUsedAt, codesLeft } = state
  return (
    <ConsolePage title="Your second step" viewer={viewer} section="account" problem={problem}>
      <p>
        On since <Time at={createdAt} />, last used <Time at={lastUsedAt} none="never" />.
      </p>
      <h2>Recovery codes</h2>
      <p>{codesLeft} of them are left. New ones take the place of all earlier ones.</p>
      <PostForm action={paths.recoveryCodes}>
        <button type="submit" class="quiet">
          Make new recovery codes
        </button>
      </PostForm>
      <h2>Switch it off</h2>
      <p>
        Your password alone signs you in then. Your connected applications end. Workspaces that ask for a second step
        are closed to you until you set one up again. For another phone, switch it off and set it up there.
      </p>
      <AskForm
        action={paths.secondStepOff}
        submit="Switch the second step off"
        danger
        cancel="Keep it"
        href={paths.account}
      />
    </ConsolePage>
  )
}

function NoPassword({ viewer, problem }: PageProps) {
  return (
    <ConsolePage title="Second step" viewer={viewer} section="account" problem={problem}>
      <p>
        A second step needs a password, and your account has none. Passkeys and your provider need no second step.{' '}
        <a href={paths.account}>Back to the account</a>
      </p>
    </ConsolePage>
  )
}

/** Rows of modules; true is dark. */
type Matrix = readonly (readonly boolean[])[]

async function matrixOf(text: string): Promise<Matrix> {
  // Loaded on first use: few pages show one.
  const { encode } = await import('uqr')
  return encode(text, { ecc: 'M', border: 4 }).data
}

function QrCode({ matrix, label }: { readonly matrix: Matrix; readonly label: string }) {
  const size = matrix.length
  const dark = matrix.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}

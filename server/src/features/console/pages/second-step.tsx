/** The page of the second step: setting it up with an authenticator app, its recovery codes, and switching it off. */
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { Code, Time } from '../../../web/parts/values.tsx'
import type { SecondStep, SetUp } from '../../people/second-steps.ts'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'
import { AskForm, ButtonForm, Field, PostForm } from '../parts/form.tsx'

export function secondStepRoutes(app: App, services: ConsoleDependencies): void {
  const { secondSteps, counters, config } = services

  addPage(app, services, paths.secondStep, {
    freshSignIn: true,
    show: async ({ user, refused }) => {
      const problem = refused?.problem
      const state = await secondSteps.find(user.id)
      if (state) return <Change {...state} problem={problem} />
      if (!user.hasPassword) return <NoPassword problem={problem} />
      return settingUp(await secondSteps.begin(user), problem)
    },
    form: {
      freshSignIn: true,
      countAttempt: limitAttempts(counters, config.signInLimit),
      answer: async ({ user, session, form: { ticket = '', code = '' }, by }) => {
        const answer = await secondSteps.confirm(user, session.id, { ticket, code }, by)
        if (!('secret' in answer)) return newCodes(answer)
        const problem = 'the code is not right: type the one that your app shows now, and check the time of your phone'
        return { page: await settingUp(answer, problem), status: 422 }
      },
    },
    forms: {
      [paths.recoveryCodes]: {
        freshSignIn: true,
        answer: async ({ user, by }) => newCodes(await secondSteps.replaceCodes(user, by)),
      },
      [paths.secondStepOff]: {
        freshSignIn: true,
        save: ({ user, by }) => secondSteps.switchOff(user, by),
        done: 'second-step-off',
        leadsTo: paths.account,
      },
    },
  })
}

async function settingUp({ secret, uri, ticket }: SetUp, problem: string | undefined) {
  const qrCode = await drawQrCode(uri)
  return (
    <ConsolePage title="Set up a second step" section="account" problem={problem}>
      <ol>
        <li>Open an authenticator app on your phone, and add an account.</li>
        <li>
          Scan this picture, or type the key below it.
          {qrCode}
          <Code text={secret} label="the key" />
          <p class="help">
            Time-based, SHA-1, 6 digits, every 30 seconds. On the phone itself: <a href={uri}>open in the app</a>.
          </p>
        </li>
        <li>Type the code that the app shows now.</li>
      </ol>
      <PostForm action={paths.secondStep}>
        <input type="hidden" name="ticket" value={ticket} />
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

/** Draws the key as a picture. The library is loaded on first use: few pages show one. */
async function drawQrCode(uri: string) {
  const { encode } = await import('uqr')
  const { data, size } = encode(uri, { ecc: 'M', border: 4 })
  const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  const label = 'The key of your second step, for an authenticator app'
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}

function newCodes(codes: readonly string[]) {
  const page = (
    <ConsolePage title="Your recovery codes" section="account">
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
  return { page, status: 201 }
}

function Change({ createdAt, lastUsedAt, codesLeft, problem }: SecondStep & { problem: string | undefined }) {
  return (
    <ConsolePage title="Your second step" section="account" problem={problem}>
      <p>
        On since <Time at={createdAt} />, last used <Time at={lastUsedAt} none="never" />.
      </p>
      <h2>Recovery codes</h2>
      <p>{codesLeft} of them are left. New ones take the place of all earlier ones.</p>
      <ButtonForm action={paths.recoveryCodes}>Make new recovery codes</ButtonForm>
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

function NoPassword({ problem }: { problem: string | undefined }) {
  return (
    <ConsolePage title="Second step" section="account" problem={problem}>
      <p>
        A second step needs a password, and your account has none. Passkeys and your provider need no second step.{' '}
        <a href={paths.account}>Back to the account</a>
      </p>
    </ConsolePage>
  )
}

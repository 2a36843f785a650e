/** Asks the token's process, starts it when there is something to ask, and starts it again after a failure. */
import { type ChildProcess, fork } from 'node:child_process'
import type { Logger, SigningBackend } from '@claimcheck/core/plugin'
import type { TokenCall, TokenCalls, TokenFailure, TokenReply, TokenRequest, TokenSettings } from './messages.ts'

interface PendingCall {
  resolve(answer: never): void
  reject(failure: TokenFailure): void
}

const PROCESS = new URL('./process.js', import.meta.url)
/** Names of environment variables that hold the service's secrets. The module may need other variables, such as the path of its configuration. */
const WITHHELD = ['SECRET_KEY', 'SECRET_KEY_ALSO', 'SIGNER_PIN', 'DATABASE_URL', 'SMTP_URL', 'METRICS_TOKEN']
/** The longest wait for the token, less than a client waits for the answer to a claim. */
const CALL_MS = 5_000
const RETRY_AFTER_MS = 1000

/** Signs with the token. Each method throws at once if the token was just seen to be away. */
export class TokenClient implements SigningBackend {
  readonly name: string
  readonly #settings: TokenSettings
  readonly #logger: Pick<Logger, 'info' | 'warn'>
  #process: TokenProcess | undefined
  #failed: { readonly error: Error; readonly isFinal: boolean; readonly at: number } | undefined

  constructor(settings: TokenSettings, { logger }: { readonly logger: Pick<Logger, 'info' | 'warn'> }) {
    this.name = `the token ${settings.token}`
    this.#settings = settings
    this.#logger = logger
  }

  keys() {
    return this.#call('keys', {})
  }

  generate() {
    return this.#call('generate', {})
  }

  sign(keyId: string, message: Uint8Array) {
    return this.#call('sign', { keyId, message })
  }

  close(): void {
    this.#process?.end()
    this.#process = undefined
  }

  async #call<Call extends TokenCall>(
    method: Call,
    request: TokenCalls[Call]['request'],
  ): Promise<TokenCalls[Call]['answer']> {
    const failed = this.#failed
    if (failed && (failed.isFinal || performance.now() - failed.at < RETRY_AFTER_MS)) throw failed.error
    this.#process ??= new TokenProcess(this.#settings)
    const asked = this.#process
    try {
      const answer = await asked.call(method, request)
      if (this.#failed) this.#logger.info({}, 'the token signs again')
      this.#failed = undefined
      return answer
    } catch (failure) {
      throw this.#fail(asked, failure as TokenFailure)
    }
  }

  /** The error of a failed call. If several fail together, all say what the first one does. */
  #fail(asked: TokenProcess, { message, isFinal }: TokenFailure): Error {
    const advice = isFinal ? '. Correct SIGNER_PIN, and start again: nothing tries this PIN a second time' : ''
    const error = new Error(`${this.name} does not sign: ${message}${advice}`)
    if (this.#process === asked) {
      if (!this.#failed) this.#logger.warn({ problem: error.message }, 'the token does not sign: claims wait')
      this.#failed = { error, isFinal, at: performance.now() }
      this.close()
    }
    return this.#failed?.error ?? error
  }
}

class TokenProcess {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, PendingCall>()
  #waiting: TokenRequest[] = []
  #calls = 0

  constructor(settings: TokenSettings) {
    const env = environmentOfModule(process.env)
    // Output of a module is not for anyone's terminal.
    const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const
    const child = fork(PROCESS, { env, execArgv: [], serialization: 'advanced', stdio: [...stdio] })
    child.on('message', (replies: readonly TokenReply[]) => {
      for (const reply of replies) {
        const call = this.#settle(reply.id)
        if ('answer' in reply) call?.resolve(reply.answer as never)
        else call?.reject(reply.failure)
      }
    })
    child.on('error', ({ message }) => this.#fail(message))
    child.on('exit', (code, signal) => this.#fail(`its process ended with ${signal ?? code}`))
    child.send({ settings })
    this.#child = child
    this.#hold(false)
  }

  /** Asks the token's process. @throws TokenFailure if the token cannot do it */
  async call<Call extends TokenCall>(
    name: Call,
    request: TokenCalls[Call]['request'],
  ): Promise<TokenCalls[Call]['answer']> {
    const id = ++this.#calls
    const timer = setTimeout(() => this.#settle(id)?.reject({ isFinal: false, message: 'it does not answer' }), CALL_MS)
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { resolve, reject })
        if (this.#pending.size === 1) this.#hold(true)
        if (this.#waiting.push({ id, call: name, ...request } as TokenRequest) === 1) setImmediate(() => this.#send())
      })
    } finally {
      clearTimeout(timer)
    }
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }

  #send(): void {
    this.#child.send(this.#waiting, (error) => {
      if (error) this.#fail(error.message)
    })
    this.#waiting = []
  }

  #settle(id: number): PendingCall | undefined {
    const call = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#hold(false)
    return call
  }

  #fail(message: string): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject({ isFinal: false, message })
  }

  /** Decides whether this process goes on for the child's sake. */
  #hold(isHeld: boolean): void {
    const change = isHeld ? 'ref' : 'unref'
    this.#child[change]()
    this.#child.channel?.[change]()
  }
}

function environmentOfModule(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !WITHHELD.includes(name)))
}

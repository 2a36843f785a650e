/** The passkey forms: ask the browser for a passkey and submit its answer. They are shown only when the browser supports passkeys. */

type Ceremony = 'create' | 'get'

const CEREMONIES: Readonly<Record<Ceremony, (options: never) => Promise<Credential | null>>> = {
  create: (options) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  get: (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: 'The browser gave no passkey: the request was cancelled or took too long. Try again.',
  InvalidStateError: 'This device already has a passkey for this account.',
  SecurityError: 'Passkeys cannot be used at this address.',
}

async function askForOptions(form: HTMLFormElement): Promise<never> {
  const csrf = form.querySelector<HTMLInputElement>('[name=_csrf]')?.value
  const body = new URLSearchParams(csrf === undefined ? {} : { _csrf: csrf })
  const response = await fetch(form.dataset.options!, { method: 'POST', body, redirect: 'error' })
  if (response.status === 429) throw new Error('Too many attempts. Try again in a minute.')
  if (response.status === 403) throw new Error('Your sign-in is more than ten minutes old. Load the page again.')
  if (!response.ok) throw new Error('The request failed. Load the page again, then try once more.')
  return (await response.json()) as never
}

async function send(form: HTMLFormElement): Promise<void> {
  const ceremony = CEREMONIES[form.dataset.passkey as Ceremony]
  const credential = (await ceremony(await askForOptions(form))) as PublicKeyCredential
  form.querySelector<HTMLInputElement>('[name=credential]')!.value = JSON.stringify(credential.toJSON())
  form.submit()
}

function prepare(form: HTMLFormElement): void {
  const button = form.querySelector('button')!
  const mistake = form.querySelector('.mistake')!
  form.hidden = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    mistake.textContent = ''
    await send(form).catch((error: Error) => {
      mistake.textContent = REASONS[error.name] ?? error.message
      button.disabled = false
    })
  })
}

const isSupported = typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'
if (isSupported) {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) prepare(form)
  for (const note of document.querySelectorAll<HTMLElement>('[data-passkey=none]')) note.hidden = true
}

export {}

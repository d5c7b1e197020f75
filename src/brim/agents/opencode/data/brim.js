// brim for opencode: tells the model your rules, refuses what they forbid, and keeps what a compaction would drop.
// One file for opencode 1.x, which calls `server`, and 2.x, which calls `setup`. 2.x is untested.
// `brim init` writes this file, and `brim uninstall` removes it.
import { spawn } from "node:child_process"
import { appendFile, mkdir } from "node:fs/promises"
import { dirname, join } from "node:path"

const LAUNCHER = "{launcher}"
const HOOK = process.platform === "win32" ? ["cmd.exe", "/d", "/c", "call", LAUNCHER] : [LAUNCHER] // it can't start a .cmd
const SPENT = join(dirname(dirname(LAUNCHER)), "opencode") // a file per session: what each step took and cost, no texts
const PATIENCE = 2000 // milliseconds; a hook that takes longer says nothing

/** Ask brim about an event. It never fails: without an answer the agent goes on. */
function ask(event, data) {
  return new Promise((resolve) => {
    let text = ""
    const [program, ...first] = HOOK
    const hook = spawn(program, [...first, event, "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const timer = setTimeout(() => hook.kill("SIGKILL"), PATIENCE)
    hook.on("error", () => resolve(""))
    hook.stdin.on("error", () => {})
    hook.stdout.on("data", (chunk) => (text += chunk))
    hook.on("close", () => {
      clearTimeout(timer)
      resolve(text)
    })
    hook.stdin.end(JSON.stringify({ hook_event_name: event, ...data }))
  })
}

/** The answer as an object, empty if it isn't JSON. */
async function answer(event, data) {
  try {
    return JSON.parse((await ask(event, data)) || "{}")
  } catch {
    return {}
  }
}

const told = (answered) => answered.hookSpecificOutput?.additionalContext ?? ""
const snake = (given) =>
  Object.fromEntries(Object.entries(given ?? {}).map(([key, value]) => [key.replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), value]))
const joined = (...texts) => texts.filter(Boolean).join("\n\n")

/** What a call names: its command or files, and nothing of what it writes. */
const named = ({ command, filePath, patchText } = {}) => ({
  command,
  filePath,
  patchText: patchText?.split("\n").filter((line) => line.startsWith("*** ")).join("\n"),
})

/** What both versions ask brim about the sessions of a folder. `show` shows a message to the person. */
function sessions(directory, show) {
  const starts = new Map() // how the next request of a session begins: "startup", or "compact"; "" if it's going on
  const later = new Map() // what is told before a call reaches the model with its result
  const file = (session) => join(SPENT, `${session}.jsonl`)
  const of = (session, more) => ({ session_id: session, cwd: directory, transcript_path: file(session), ...more })
  const asked = async (event, session, more) => {
    const answered = await answer(event, of(session, more))
    if (answered.systemMessage) show(answered.systemMessage)
    return answered
  }
  const begin = async (session) => {
    const source = starts.get(session) ?? "startup"
    starts.set(session, "")
    return source ? told(await asked("SessionStart", session, { source })) : ""
  }
  const note = async (session, line) => {
    await mkdir(SPENT, { recursive: true, mode: 0o700 })
    const whole = { timestamp: Date.now(), sessionID: session, cwd: directory, ...line }
    await appendFile(file(session), JSON.stringify(whole) + "\n", { mode: 0o600 })
  }
  const call = (tool, input, id) => ({ tool_name: tool, tool_input: snake(input), tool_use_id: id })
  return {
    /** Return what is told with a prompt; throw if it must not be sent. */
    async prompt(session, prompt, model) {
      const first = await begin(session)
      const answered = await asked("UserPromptSubmit", session, { prompt, model })
      if (answered.decision === "block") throw new Error(answered.reason)
      return joined(first, told(answered))
    },
    /** Throw if a call must not be made. */
    async before(session, tool, input, id) {
      const answered = await asked("PreToolUse", session, call(tool, input, id))
      const { permissionDecision, permissionDecisionReason } = answered.hookSpecificOutput ?? {}
      if (permissionDecision === "deny") throw new Error(permissionDecisionReason)
      later.set(id, told(answered))
    },
    /** Note a call that was made, and return what is told with its result. */
    async after(session, tool, input, id, result, exit) {
      const state = { status: "completed", input: named(input), output: "", metadata: { exit } }
      await note(session, { type: "tool_use", part: { type: "tool", tool, callID: id, state } }).catch(() => {})
      const waiting = later.get(id)
      later.delete(id)
      const start = await begin(session)
      return joined(waiting, start, told(await asked("PostToolUse", session, { ...call(tool, input, id), tool_response: result })))
    },
    /** Return what a summary must keep. */
    async compacting(session) {
      return (await ask("PreCompact", of(session, { trigger: "auto" }))).trim()
    },
    compacted: (session) => starts.set(session, "compact"),
    stop: (session) => asked("Stop", session, {}),
    /** Note what a step took. */
    spent: (session, part) => note(session, { type: "step_finish", part }),
  }
}

/** opencode 1.x: returns the hooks. */
async function server({ client, directory }) {
  const show = (message) =>
    client.tui.showToast({ body: { title: "brim", message, variant: "warning" } }).catch(() => {})
  const brim = sessions(directory, show)
  return {
    "chat.message": async ({ sessionID, model }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      const text = await brim.prompt(sessionID, typed.map((part) => part.text).join("\n"), model?.modelID)
      if (text && typed.length) {
        const id = `${typed.at(-1).id}b`
        parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
      }
    },
    "tool.execute.before": ({ tool, sessionID, callID }, { args }) => brim.before(sessionID, tool, args, callID),
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      output.output = joined(output.output, await brim.after(sessionID, tool, args, callID, output.output, output.metadata?.exit))
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const keep = await brim.compacting(sessionID)
      if (keep) output.context.push(keep)
    },
    event: async ({ event }) => {
      const { part, sessionID } = event.properties ?? {}
      if (event.type === "message.part.updated" && part.type === "step-finish") await brim.spent(part.sessionID, part)
      if (event.type === "session.compacted") brim.compacted(sessionID)
      if (event.type === "session.idle") await brim.stop(sessionID)
    },
  }
}

/** opencode 2.x: registers the hooks. One that this version doesn't have must not stop the others. */
async function setup(context) {
  const brim = sessions(context.location?.directory ?? process.cwd(), () => {})
  const on = async (domain, name, act) => {
    try {
      await domain?.hook?.(name, act)
    } catch {
      // not in this version
    }
  }
  await on(context.session, "prompt", async (event) => {
    const text = await brim.prompt(event.sessionID, event.prompt?.text ?? "")
    if (text) event.prompt.text = joined(event.prompt.text, text)
  })
  await on(context.tool, "execute.before", (event) => brim.before(event.sessionID, event.tool, event.input, event.id))
  await on(context.tool, "execute.after", async (event) => {
    if (event.status !== "completed") return
    const content = event.result?.content
    const { exit } = event.result?.metadata ?? {}
    const text = await brim.after(event.sessionID, event.tool, event.input, event.id, content, exit)
    if (!text) return
    const more = Array.isArray(content) ? [...content, { type: "text", text }] : joined(content, text)
    event.result = { ...event.result, content: more }
  })
  await on(context.session, "compaction", async (event) => {
    const keep = await brim.compacting(event.sessionID)
    if (keep) event.system?.push({ type: "text", text: keep })
  })
  follow(context, brim)
}

/** Follow the events of opencode 2.x for as long as it runs. */
async function follow(context, brim) {
  try {
    for await (const { type, data } of context.event.subscribe()) {
      if (type === "session.step.ended") {
        const { assistantMessageID: id, tokens, cost } = data
        await brim.spent(data.sessionID, { type: "step-finish", id, tokens, cost })
      }
      if (type === "session.compaction.ended") brim.compacted(data.sessionID)
      if (type === "session.execution.ended") await brim.stop(data.sessionID)
    }
  } catch {
    // not in this version
  }
}

export default { id: "brim", server, setup }

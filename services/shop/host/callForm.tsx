/** The tools of the server, and the arguments of the one that is picked. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Field, formFields, printableLine } from "reprise/client/browser";
import { contentOf, type Draft, draftOf, problemsOf } from "./draft.ts";
import { FieldInput } from "./fieldInput.tsx";
import { focusOn } from "./focus.ts";
import type { ListedTool } from "./state.ts";

type Args = Readonly<Record<string, unknown>>;

interface CallFormProps {
  readonly tools: readonly ListedTool[];
  readonly isBusy: boolean;
  readonly onCall: (tool: string, args: Args) => void;
}

/** Pick, fill in, call. */
export function CallForm({ tools, isBusy, onCall }: CallFormProps): JSX.Element {
  const [name, setName] = useState(tools[0]?.name);
  const tool = tools.find((each) => each.name === name) ?? tools[0];
  if (tool === undefined) {
    return (
      <section class="card" aria-labelledby="tools-title">
        <h2 id="tools-title">Call a tool</h2>
        <p>This server has no tools.</p>
      </section>
    );
  }
  return (
    <section class="card" aria-labelledby="tools-title">
      <h2 id="tools-title">Call a tool</h2>
      <div class="field">
        <label for="tool">Tool</label>
        <select
          id="tool"
          value={tool.name}
          disabled={isBusy}
          onChange={(event) => setName(event.currentTarget.value)}
        >
          {tools.map((each) => (
            <option key={each.name} value={each.name}>
              {printableLine(each.title ?? each.name)}
            </option>
          ))}
        </select>
      </div>
      {tool.description === undefined ? null : (
        <p class="hint">{printableLine(tool.description)}</p>
      )}
      <Arguments
        key={tool.name}
        tool={tool}
        isBusy={isBusy}
        onCall={(args) => onCall(tool.name, args)}
      />
    </section>
  );
}

interface ArgumentsProps {
  readonly tool: ListedTool;
  readonly isBusy: boolean;
  readonly onCall: (args: Args) => void;
}

function Arguments(props: ArgumentsProps): JSX.Element {
  const fields = fieldsOf(props.tool.inputSchema);
  return fields === undefined ? (
    <JsonArguments {...props} />
  ) : (
    <FieldArguments {...props} fields={fields} />
  );
}

function FieldArguments({
  fields,
  isBusy,
  onCall,
}: ArgumentsProps & { readonly fields: readonly Field[] }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(() => draftOf(fields));
  const [isTried, setTried] = useState(false);
  const content = contentOf(fields, draft);
  const problems = problemsOf(fields, content);
  const call = (): void => {
    setTried(true);
    const wrong = fields.findIndex(({ name }) => problems.has(name));
    if (wrong === -1) onCall(Object.fromEntries(content));
    else focusOn(`argument-${wrong}`);
  };
  return (
    <>
      {fields.map((field, index) => (
        <FieldInput
          key={field.name}
          id={`argument-${index}`}
          field={field}
          draft={draft}
          problem={isTried ? problems.get(field.name) : undefined}
          onType={(name, value) => {
            const after = new Map(draft);
            if (value === undefined) after.delete(name);
            else after.set(name, value);
            setDraft(after);
          }}
        />
      ))}
      <CallButton isBusy={isBusy} onCall={call} />
    </>
  );
}

/** For schemas that no flat form can show. */
function JsonArguments({ isBusy, onCall }: ArgumentsProps): JSX.Element {
  const [text, setText] = useState("{}");
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const call = (): void => {
    const args = parsedObject(text);
    setProblem(args === undefined ? "This is no JSON object." : undefined);
    if (args === undefined) focusOn("arguments");
    else onCall(args);
  };
  return (
    <>
      <div class="field">
        <label for="arguments">Arguments, as JSON</label>
        <textarea
          id="arguments"
          rows={6}
          value={text}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : "arguments-problem"}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {problem === undefined ? null : (
          <p class="problem" id="arguments-problem">
            {problem}
          </p>
        )}
      </div>
      <CallButton isBusy={isBusy} onCall={call} />
    </>
  );
}

function CallButton({
  isBusy,
  onCall,
}: {
  readonly isBusy: boolean;
  readonly onCall: () => void;
}): JSX.Element {
  return (
    <button type="button" class="primary" disabled={isBusy} onClick={onCall}>
      Call
    </button>
  );
}

function fieldsOf(schema: unknown): readonly Field[] | undefined {
  const properties = typeof schema === "object" && schema !== null && "properties" in schema;
  if (!properties) return [];
  try {
    return formFields(schema);
  } catch {
    // Nested objects and the like: the person writes JSON.
    return undefined;
  }
}

function parsedObject(text: string): Args | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Args) : undefined;
  } catch {
    return undefined;
  }
}

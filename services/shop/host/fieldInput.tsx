/**
 * One field of a form: label, the server's words for it, an input of its kind, and what is wrong with the value.
 *
 * No input here is in an HTML form, so that Enter in it sends nothing.
 */

import type { JSX, TargetedEvent } from "preact";
import { type Field, printableLine } from "reprise/client/browser";
import type { Draft } from "./draft.ts";

type Typed = string | boolean | readonly string[];

interface FieldInputProps {
  readonly field: Field;
  /** Of all inputs on the page this makes the ids of this one. */
  readonly id: string;
  readonly draft: Draft;
  readonly problem: string | undefined;
  readonly onType: (name: string, value: Typed | undefined) => void;
}

/** See the top of this file. */
export function FieldInput(props: FieldInputProps): JSX.Element {
  const { field, id, problem } = props;
  const isGroup = field.type === "boolean" || field.type === "choices";
  const label = (
    <>
      {printableLine(field.label)}
      {field.required ? null : <span class="quiet"> (optional)</span>}
    </>
  );
  const rest = (
    <>
      {field.description === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {printableLine(field.description)}
        </p>
      )}
      <Input {...props} />
      {problem === undefined ? null : (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </>
  );
  if (isGroup) {
    return (
      <fieldset class="field" aria-describedby={describedBy(props)}>
        <legend>{label}</legend>
        {rest}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rest}
    </div>
  );
}

function Input(props: FieldInputProps): JSX.Element {
  const { field, id, draft, onType } = props;
  const typed = draft.get(field.name);
  switch (field.type) {
    case "boolean":
      return (
        <div class="options">
          {([true, false] as const).map((value) => (
            <label key={String(value)} class="choice">
              <input
                type="radio"
                name={id}
                checked={typed === value}
                onChange={() => onType(field.name, value)}
              />
              {value ? "Yes" : "No"}
            </label>
          ))}
          {field.required || typed === undefined ? null : (
            <button type="button" class="small" onClick={() => onType(field.name, undefined)}>
              No answer
            </button>
          )}
        </div>
      );
    case "choice":
      return (
        <select
          {...aria(props)}
          value={typeof typed === "string" ? typed : ""}
          onChange={(event) => onType(field.name, textIn(event))}
        >
          <option value="">{field.required ? "Choose" : "No answer"}</option>
          {field.options.map(({ value, title }) => (
            <option key={value} value={value}>
              {printableLine(title)}
            </option>
          ))}
        </select>
      );
    case "choices": {
      const chosen = Array.isArray(typed) ? (typed as readonly string[]) : [];
      return (
        <div class="options">
          {field.options.map(({ value, title }) => (
            <label key={value} class="choice">
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={() =>
                  onType(
                    field.name,
                    chosen.includes(value)
                      ? chosen.filter((each) => each !== value)
                      : [...chosen, value],
                  )
                }
              />
              {printableLine(title)}
            </label>
          ))}
        </div>
      );
    }
    case "number":
      return (
        <TextInput {...props} typed={typed} inputMode={field.integer ? "numeric" : "decimal"} />
      );
    case "text":
      if (field.format === "date") {
        return <input {...aria(props)} {...texts(props, typed)} type="date" />;
      }
      return (
        <TextInput
          {...props}
          typed={typed}
          inputMode={field.format === "email" ? "email" : field.format === "uri" ? "url" : "text"}
          {...(field.format === "date-time" ? { placeholder: "2026-07-28T09:30:00Z" } : {})}
        />
      );
  }
}

interface TextInputProps extends FieldInputProps {
  readonly typed: Typed | undefined;
  readonly inputMode: "text" | "numeric" | "decimal" | "email" | "url";
  readonly placeholder?: string;
}

function TextInput({ typed, inputMode, placeholder, ...props }: TextInputProps): JSX.Element {
  return (
    <input
      {...aria(props)}
      {...texts(props, typed)}
      type="text"
      inputMode={inputMode}
      placeholder={placeholder}
    />
  );
}

function texts({ field, onType }: FieldInputProps, typed: Typed | undefined) {
  return {
    autocomplete: "off",
    value: typeof typed === "string" ? typed : "",
    onInput: (event: TargetedEvent<HTMLInputElement>) => onType(field.name, textIn(event)),
  };
}

function aria(props: FieldInputProps) {
  return {
    id: props.id,
    required: props.field.required,
    "aria-invalid": props.problem !== undefined,
    "aria-describedby": describedBy(props),
  };
}

function describedBy({ id, field, problem }: FieldInputProps): string | undefined {
  const parts = [
    ...(field.description === undefined ? [] : [`${id}-hint`]),
    ...(problem === undefined ? [] : [`${id}-problem`]),
  ];
  return parts.length === 0 ? undefined : parts.join(" ");
}

function textIn(event: TargetedEvent<HTMLInputElement | HTMLSelectElement>): string {
  return event.currentTarget.value;
}

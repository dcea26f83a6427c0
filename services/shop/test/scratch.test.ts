import { access, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Scratch, seedScratch } from "@reprise/shop";
import { expect, test } from "vitest";
import { temporaryDirectory } from "./world.ts";

async function scratchArea() {
  const root = await temporaryDirectory();
  const directory = join(root, "scratch");
  await seedScratch(directory);
  await mkdir(join(root, "precious"));
  return { root, directory, scratch: new Scratch(directory) };
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

test.each(["build", "build/", "./build", "build//", "./build/."])(
  "%s is shown as build/ and can be deleted",
  async (path) => {
    const { directory, scratch } = await scratchArea();
    expect(await scratch.find(path)).toEqual({ ok: true, name: "build/" });
    await scratch.delete("build/");
    expect(await exists(join(directory, "build"))).toBe(false);
    expect(await exists(join(directory, "logs"))).toBe(true);
  },
);

test.each([
  "../precious",
  "build/../../precious",
  "build/..",
  "..",
  "/etc",
  "//etc",
  "C:\\Windows",
  "c:build",
  "build\\..\\..\\precious",
  "build\0",
])("%j leads out of the area and is refused", async (path) => {
  const { scratch } = await scratchArea();
  expect(await scratch.find(path)).toMatchObject({
    ok: false,
    reason: expect.stringContaining("leads out of the scratch area"),
  });
});

test.each(["", ".", "./", "./."])("%j would be the area itself and is refused", async (path) => {
  const { scratch } = await scratchArea();
  expect(await scratch.find(path)).toMatchObject({ ok: false });
});

test("a folder that is not there is refused by its name", async () => {
  const { scratch } = await scratchArea();
  expect(await scratch.find("nothing")).toEqual({
    ok: false,
    reason: "There is no folder nothing/",
  });
});

test("a file is no folder", async () => {
  const { directory, scratch } = await scratchArea();
  await writeFile(join(directory, "notes.txt"), "keep");
  expect(await scratch.find("notes.txt")).toMatchObject({ ok: false });
  expect(await scratch.find("notes.txt/below")).toMatchObject({ ok: false });
});

test("a link is refused, at the end of a path and in its middle", async () => {
  const { root, directory, scratch } = await scratchArea();
  await mkdir(join(root, "precious", "inner"));
  await symlink(join(root, "precious"), join(directory, "link"));
  for (const path of ["link", "link/", "link/inner"]) {
    expect(await scratch.find(path)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("links are not followed"),
    });
    await expect(scratch.delete(path)).rejects.toThrow("links are not followed");
  }
  expect(await exists(join(root, "precious", "inner"))).toBe(true);
});

test("a link that took the folder's place after it was found is not followed", async () => {
  const { root, directory, scratch } = await scratchArea();
  await scratch.find("build");
  await scratch.delete("build/");
  await symlink(join(root, "precious"), join(directory, "build"));
  await expect(scratch.delete("build/")).rejects.toThrow("links are not followed");
  expect(await exists(join(root, "precious"))).toBe(true);
});

test("a link inside a deleted folder goes, and what it leads to stays", async () => {
  const { root, directory, scratch } = await scratchArea();
  await symlink(join(root, "precious"), join(directory, "build", "link"));
  await scratch.delete("build/");
  expect(await exists(join(root, "precious"))).toBe(true);
});

test("to delete what is gone already is no failure", async () => {
  const { scratch } = await scratchArea();
  await scratch.delete("build/");
  await expect(scratch.delete("build/")).resolves.toBeUndefined();
});

test("an area that exists is left as it is, so a deleted folder stays deleted over restarts", async () => {
  const { directory, scratch } = await scratchArea();
  await scratch.delete("build/");
  await seedScratch(directory);
  expect(await exists(join(directory, "build"))).toBe(false);
});

# -DR1_SANITIZE=address,undefined (or thread) instruments every target of the project.
if(R1_SANITIZE)
  add_compile_options(-fsanitize=${R1_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${R1_SANITIZE})
endif()
